// Views of matrices in memory, and scratch memory, shared by the loops of this library. Strides
// count elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>

#include "mirage/cpu/vec.h"

namespace mirage::cpu {

/// Element (row, col) is data[row * row_stride + col * col_stride]; strides of 0 broadcast.
template <class S>
struct Tile {
  S* data;
  int64_t row_stride, col_stride;

  S* at(int64_t row, int64_t col) const { return data + row * row_stride + col * col_stride; }
};

template <class S>
Tile(S*, int64_t, int64_t) -> Tile<S>;

/// What generated code writes for numbers without a literal.
template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

/// The length of a tile at this step along an axis that does not divide.
inline int64_t tile_length(int64_t extent, int64_t step, int64_t tile) {
  return std::clamp<int64_t>(extent - step * tile, 0, tile);
}

/// Scratch memory that grows on demand and is kept between calls: one object per thread, passed to
/// whatever needs room. reserve() invalidates what an earlier reserve() returned.
class Workspace {
 public:
  std::byte* reserve(size_t bytes) {
    if (bytes > size_) {
      size_ = 0;  // stands if there is not so much memory
      memory_.reset();
      memory_.reset(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64})));
      size_ = bytes;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  size_t size_ = 0;
};

}  // namespace mirage::cpu
