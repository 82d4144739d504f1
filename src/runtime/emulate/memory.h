#pragma once
// Memory of an emulated GPU: buffers in global memory with nothing around them, and the shared
// memory of the blocks of a cluster, a window of addresses each.

#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "runtime/emulate/shadow.h"

namespace mirage::runtime::emulate {

/// What kernels read that nobody wrote, as bytes: a NaN in every floating-point type.
inline constexpr unsigned char kPoison = 0xff;

struct Region {
  std::string name;
  std::byte* begin;
  size_t bytes;
  bool is_constant;  // kernels must not write it
  Shadow shadow;     // of constants: what is not Outside may be read
  std::unique_ptr<std::byte[]> memory;

  size_t offset_of(const void* address) const {
    return static_cast<size_t>(static_cast<const std::byte*>(address) - begin);
  }
};

class GlobalMemory {
 public:
  /// Poisoned.
  Region& add(std::string name, size_t bytes, bool is_constant);
  /// The region with this address in it or in what surrounds it; null if there is none.
  Region* find(const void* address);
  void begin_launch(uint32_t first_cluster);

 private:
  static constexpr size_t kAround = 1 << 16;
  std::deque<Region> regions_;
  Region* last_ = nullptr;
};

inline constexpr uint32_t kMostSharedBytes = 227 << 10;  // of a block, arrays included

/// One block's. Offset 0 is never used, arrays of the text come first, then the memory that the
/// launch asks for, at an address that is aligned to no more than it has to be.
struct SharedWindow {
  static constexpr uint32_t kBytes = uint32_t{1} << 19;  // between the windows of two blocks
  static constexpr uint32_t kFirst = 1024, kLaunch = (32 << 10) + 128;
  static constexpr uint32_t kGap = 64;  // between two arrays

  /// Made for each block anew, in the memory of the one before.
  explicit SharedWindow(std::byte* at) : memory(at) {}
  void reset(uint32_t launch);
  /// The offset of a new array, 0 if there is no place.
  uint32_t add_array(uint32_t bytes, uint32_t alignment);
  /// As messages name it.
  std::string name_of(uint32_t offset) const;

  std::byte* memory;
  uint32_t launch_bytes = 0;
  uint32_t array_bytes = 0, arrays_end = kFirst;
  std::vector<uint32_t> arrays{};  // offsets
  Shadow shadow{0, CellState::Outside};
};

}  // namespace mirage::runtime::emulate
