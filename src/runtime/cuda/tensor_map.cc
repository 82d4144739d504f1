#include "runtime/cuda/tensor_map.h"

#include <algorithm>

namespace mirage::runtime::cuda {
namespace {

// Numbers of the driver's interface.
constexpr int kFloat16 = 6, kBfloat16 = 9;
constexpr int kNoInterleave = 0, kPromote128Bytes = 2, kZerosOutside = 0;

int swizzle(int bytes) { return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0; }

}  // namespace

Result<void> encode(const Gpu& gpu, const codegen::TensorMap& description, DevicePtr buffer,
                    TensorMap& map) {
  const size_t rank = description.extents.size();
  std::vector<uint64_t> extents(description.extents.begin(), description.extents.end());
  std::vector<uint64_t> strides(description.strides.begin() + 1, description.strides.end());
  strides.resize(std::max<size_t>(strides.size(), 1));  // one dimension has none: still an address
  std::vector<uint32_t> box(description.box.begin(), description.box.end()), steps(rank, 1);
  const uint64_t address = buffer + static_cast<uint64_t>(description.offset);
  const int type = description.dtype == ir::DType::BF16 ? kBfloat16 : kFloat16;
  const int status =
      gpu.driver->tensor_map(&map, type, static_cast<uint32_t>(rank), address, extents.data(),
                             strides.data(), box.data(), steps.data(), kNoInterleave,
                             swizzle(description.swizzle_bytes), kPromote128Bytes, kZerosOutside);
  return gpu.driver->check(status, fmt::format("tensor map of buffer {}", description.buffer));
}

}  // namespace mirage::runtime::cuda
