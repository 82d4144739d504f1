#include "runtime/emulate/tensor_map.h"

#include <algorithm>
#include <cstring>

namespace mirage::runtime::emulate {

uint32_t BoxMap::bytes() const {
  auto count = static_cast<uint32_t>(element_bytes);
  for (int d = 0; d < rank; ++d) count *= box[d];
  return count;
}

void BoxMap::fetch(const int* at, std::byte* window, uint32_t to) const {
  const int64_t count = int64_t{bytes()} / element_bytes;
  for (int64_t i = 0; i < count; ++i) {
    const std::byte* from = base;
    bool is_inside = true;
    int64_t rest = i;
    for (int d = 0; d < rank; ++d) {
      const int64_t coordinate = at[d] + rest % box[d];
      rest /= box[d];
      is_inside &= coordinate >= 0 && coordinate < extents[d];
      from += coordinate * strides[d];
    }
    std::byte* const place =
        window + swizzled(to + static_cast<uint32_t>(i * element_bytes), swizzle_bytes);
    if (is_inside)
      std::memcpy(place, from, static_cast<size_t>(element_bytes));
    else
      std::memset(place, 0, static_cast<size_t>(element_bytes));
  }
}

namespace {

/// The driver's rules.
Result<void> check(const codegen::TensorMap& map, const std::byte* base) {
  const int64_t element = ir::bytes_of(map.dtype);
  const size_t rank = map.extents.size();
  const auto refused = [&](std::string_view why) {
    return fail(Code::RunFailed, "tensor map of buffer {}: {}", map.buffer, why);
  };
  if (rank < 1 || rank > kMostDims) return refused("one to five dimensions are possible");
  if (reinterpret_cast<uintptr_t>(base) % 16 != 0) return refused("address is not aligned to 16");
  if (map.strides[0] != element) return refused("innermost elements are not neighbours");
  for (size_t d = 0; d < rank; ++d) {
    if (map.extents[d] < 1 || map.box[d] < 1 || map.box[d] > 256)
      return refused("extents and boxes (up to 256) must have elements");
    if (d > 0 && (map.strides[d] < 0 || map.strides[d] % 16 != 0))
      return refused("strides must be multiples of 16 bytes");
  }
  const int64_t row = map.box[0] * element;
  if (row % 16 != 0) return refused("rows of a box must be multiples of 16 bytes");
  if (map.swizzle_bytes != 0 && row > map.swizzle_bytes)
    return refused("rows of a box are longer than what is permuted");
  return {};
}

}  // namespace

Result<TensorMap> encode(const codegen::TensorMap& description, const std::byte* buffer,
                         const Region& region) {
  BoxMap map{};
  map.base = buffer + description.offset;
  MIRAGE_TRY_VOID(check(description, map.base));
  map.rank = static_cast<int32_t>(description.extents.size());
  map.element_bytes = static_cast<int32_t>(ir::bytes_of(description.dtype));
  map.swizzle_bytes = static_cast<uint16_t>(description.swizzle_bytes);
  const std::byte* last = map.base + map.element_bytes;
  for (size_t d = 0; d < description.extents.size(); ++d) {
    map.extents[d] = description.extents[d];
    map.strides[d] = description.strides[d];
    map.box[d] = static_cast<uint16_t>(description.box[d]);
    last += (map.extents[d] - 1) * map.strides[d];
  }
  if (map.base < region.begin || last > region.begin + region.bytes)
    return fail(Code::RunFailed, "tensor map of buffer {}: reaches beyond {} of {} bytes",
                description.buffer, region.name, region.bytes);
  TensorMap encoded{};
  std::memcpy(encoded.bytes, &map, sizeof map);
  return encoded;
}

}  // namespace mirage::runtime::emulate
