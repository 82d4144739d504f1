#pragma once
// A tensor as the emulated copy engine sees it: what stands in the kernel's parameter.

#include "codegen/source_unit.h"
#include "runtime/emulate/memory.h"
#include "util/result.h"

namespace mirage::runtime::emulate {

inline constexpr int kMostDims = 5;

struct BoxMap {
  const std::byte* base;
  int32_t rank;
  int32_t element_bytes;
  int64_t extents[kMostDims];
  int64_t strides[kMostDims];  // bytes
  uint16_t box[kMostDims];
  uint16_t swizzle_bytes;

  uint32_t bytes() const;
  /// Copies the box at these coordinates to shared memory; elements outside are zeros. `window` is
  /// the memory at offset 0 of the block: 16-byte pieces are permuted by bits of their offsets.
  void fetch(const int* at, std::byte* window, uint32_t to) const;
};

/// Two alike in size and alignment: a parameter of generated text.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};
static_assert(sizeof(BoxMap) <= sizeof(TensorMap));

/// RunFailed where a driver would refuse, or where the tensor reaches beyond the buffer's memory.
Result<TensorMap> encode(const codegen::TensorMap& description, const std::byte* buffer,
                         const Region& region);

/// Where the byte at an offset of a box in rows of 16-byte pieces is, as the hardware permutes it.
constexpr uint32_t swizzled(uint32_t offset, int swizzle_bytes) {
  const uint32_t mask = swizzle_bytes >= 32 ? static_cast<uint32_t>(swizzle_bytes) / 16 - 1 : 0;
  return offset ^ ((offset >> 7 & mask) << 4);
}

}  // namespace mirage::runtime::emulate
