// Integers, numbers that have no literal, and views of memory. Strides count elements. Nothing here
// includes a header of the system: generated code is compiled where there is none.
#pragma once

namespace mirage::cuda {

using int32_t = int;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;

/// What generated code writes for numbers without a literal.
template <class T>
inline constexpr T kInfinity = static_cast<T>(__builtin_bit_cast(double, 0x7ff0000000000000ull));
template <class T>
inline constexpr T kNaN = static_cast<T>(__builtin_bit_cast(double, 0x7ff8000000000000ull));

template <class A, class B>
inline constexpr bool kIsSame = false;
template <class A>
inline constexpr bool kIsSame<A, A> = true;

template <class S>
inline __device__ const S* as_const(const S* data) {
  return data;
}

/// The length of a tile at this step along an axis that does not divide.
inline __device__ int64_t tile_length(int64_t extent, int64_t step, int64_t tile) {
  const int64_t left = extent - step * tile;
  return left < 0 ? 0 : left < tile ? left : tile;
}

/// Element (row, col) is data[row * row_stride + col * col_stride]; strides of 0 broadcast.
template <class S>
struct Tile {
  S* data;
  int64_t row_stride, col_stride;

  __device__ S* at(int64_t row, int64_t col) const {
    return data + row * row_stride + col * col_stride;
  }
};
template <class S>
Tile(S*, int64_t, int64_t) -> Tile<S>;

/// Streams of elementwise loops: rows of neighbours, one element a row, anything else.
template <class S>
struct Contiguous {
  S* data;
  int64_t row_stride;
  __device__ S* at(int64_t row, int64_t col) const { return data + row * row_stride + col; }
};
template <class S>
struct PerRow {
  S* data;
  int64_t row_stride;
  __device__ S* at(int64_t row, int64_t /*col*/) const { return data + row * row_stride; }
};
template <class S>
struct Strided {
  S* data;
  int64_t row_stride, col_stride;
  __device__ S* at(int64_t row, int64_t col) const {
    return data + row * row_stride + col * col_stride;
  }
};
template <class S>
Contiguous(S*, int64_t) -> Contiguous<S>;
template <class S>
PerRow(S*, int64_t) -> PerRow<S>;
template <class S>
Strided(S*, int64_t, int64_t) -> Strided<S>;

}  // namespace mirage::cuda
