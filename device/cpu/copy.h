// Copies between strided tiles with conversion of the storage type, including transposition in
// registers, and fills.
#pragma once

#include <algorithm>

#include "mirage/cpu/tile.h"

namespace mirage::cpu {

template <class V, int... Lane>
void interleave(V a, V b, V& low, V& high, std::integer_sequence<int, Lane...>) {
  constexpr int kHalf = V::kLanes / 2;
  low = V(__builtin_shufflevector(a.raw, b.raw, (Lane / 2 + (Lane % 2 ? 2 * kHalf : 0))...));
  high =
      V(__builtin_shufflevector(a.raw, b.raw, (Lane / 2 + kHalf + (Lane % 2 ? 2 * kHalf : 0))...));
}

/// Transposes the square of kLanes vectors: log2 rounds of a perfect shuffle of the whole block.
template <class V, int Round = V::kLanes>
[[gnu::always_inline]] inline void transpose(V (&rows)[V::kLanes]) {
  if constexpr (Round > 1) {
    constexpr int kHalf = V::kLanes / 2;
    V next[V::kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kHalf; ++i) {
      interleave(rows[i], rows[i + kHalf], next[2 * i], next[2 * i + 1],
                 std::make_integer_sequence<int, V::kLanes>());
    }
    transpose<V, Round / 2>(next);
#pragma GCC unroll 16
    for (int i = 0; i < V::kLanes; ++i) rows[i] = next[i];
  }
}

/// to[col * to_stride + row] = from[row * from_stride + col] for one block of at most kLanes x
/// kLanes.
template <class V, class S, class D>
void transpose_block(int rows, int cols, const S* from, int64_t from_stride, D* to,
                     int64_t to_stride) {
  V block[V::kLanes];
  if (rows == V::kLanes && cols == V::kLanes) {
#pragma GCC unroll 16
    for (int i = 0; i < V::kLanes; ++i) block[i] = V::load(from + i * from_stride);
    transpose(block);
#pragma GCC unroll 16
    for (int i = 0; i < V::kLanes; ++i) block[i].store(to + i * to_stride);
    return;
  }
  for (int i = 0; i < V::kLanes; ++i)
    block[i] = i < rows ? V::load(from + i * from_stride, cols) : V(typename V::Raw{});
  transpose(block);
  for (int i = 0; i < cols; ++i) block[i].store(to + i * to_stride, rows);
}

/// to[col * to_stride + row] = from[row * from_stride + col].
template <class V, class S, class D>
void copy_transposed(int64_t rows, int64_t cols, const S* from, int64_t from_stride, D* to,
                     int64_t to_stride) {
  for (int64_t row = 0; row < rows; row += V::kLanes) {
    const int block_rows = static_cast<int>(std::min<int64_t>(V::kLanes, rows - row));
    for (int64_t col = 0; col < cols; col += V::kLanes) {
      const int block_cols = static_cast<int>(std::min<int64_t>(V::kLanes, cols - col));
      transpose_block<V>(block_rows, block_cols, from + row * from_stride + col, from_stride,
                         to + col * to_stride + row, to_stride);
    }
  }
}

template <class V, class S, class D>
void copy_row(int64_t count, const S* from, D* to) {
  int64_t i = 0;
  for (; i + V::kLanes <= count; i += V::kLanes) V::load(from + i).store(to + i);
  if (i < count)
    V::load(from + i, static_cast<int>(count - i)).store(to + i, static_cast<int>(count - i));
}

/// Copies any tile to any tile of the same extents. Fast when both have a unit stride somewhere.
template <class V, class S, class D>
void copy_tile(int64_t rows, int64_t cols, Tile<S> from, Tile<D> to) {
  if (to.row_stride == 1 && to.col_stride != 1) {
    return copy_tile<V>(cols, rows, Tile<S>{from.data, from.col_stride, from.row_stride},
                        Tile<D>{to.data, to.col_stride, to.row_stride});
  }
  if (from.row_stride == 1 && from.col_stride != 1 && to.col_stride == 1) {
    return copy_transposed<V>(cols, rows, from.data, from.col_stride, to.data, to.row_stride);
  }
  for (int64_t row = 0; row < rows; ++row) {
    if (from.col_stride == 1 && to.col_stride == 1) {
      copy_row<V>(cols, from.at(row, 0), to.at(row, 0));
    } else {
      for (int64_t col = 0; col < cols; ++col) {
        *to.at(row, col) = convert<D>(widen<typename V::Element>(*from.at(row, col)));
      }
    }
  }
}

template <class V, class D>
void fill_tile(int64_t rows, int64_t cols, Tile<D> to, typename V::Element value) {
  const D stored = convert<D>(value);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) *to.at(row, col) = stored;
  }
}

/// Copies rows x cols and fills the rest of padded_rows x padded_cols with `value`: zero for sums,
/// -inf for maxima.
template <class V, class S, class D>
void copy_tile_padded(int64_t rows, int64_t cols, Tile<S> from, int64_t padded_rows,
                      int64_t padded_cols, Tile<D> to, typename V::Element value) {
  copy_tile<V>(rows, cols, from, to);
  fill_tile<V>(rows, padded_cols - cols, Tile<D>{to.at(0, cols), to.row_stride, to.col_stride},
               value);
  fill_tile<V>(padded_rows - rows, padded_cols,
               Tile<D>{to.at(rows, 0), to.row_stride, to.col_stride}, value);
}

}  // namespace mirage::cpu
