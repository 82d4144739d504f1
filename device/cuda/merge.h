// What the warps of a block hold of sums over a loop, put together: each warp walked a part of the
// loop for a part of the rows. Parts are combined in the order of the warps.
//
// `pad` is shared memory for all of it. Every thread of the block calls these functions; warps that
// hold nothing (`part` < 0) only take part in the barriers and the combining.
#pragma once

#include "mirage/cuda/cluster.h"
#include "mirage/cuda/fragment.h"
#include "mirage/cuda/steps.h"

namespace mirage::cuda {

/// Where a warp's rows and its part are.
struct WarpPlace {
  int part;   // of the loop
  int first;  // row
};

/// A warp's part of row values into pad[part * rows + row].
template <int kTiles>
__device__ void spread_rows(float* pad, WarpPlace place, int rows,
                            const RowValues<kTiles>& values) {
  if (place.part >= 0 && lane() % 4 == 0)
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = place.first + row_of(tile, half);
        if (row < rows) pad[place.part * rows + row] = values.v[tile][half];
      }
}

/// The running maximum of all parts in all kBlocks blocks of the cluster, in raw and m; d is what
/// the part's own sums are behind it.
template <int kParts, int kBlocks, int kTiles>
__device__ void merge_running(float* pad, WarpPlace place, int rows, RowValues<kTiles>& m,
                              RowValues<kTiles>& d, RowValues<kTiles>& raw, bool is_gauge) {
  spread_rows(pad, place, rows, raw);
  sync();
  float* const block = pad + kParts * rows;  // of all parts of this block, by row
  for (int row = thread(); row < rows; row += threads()) {
    float value = pad[row];
#pragma unroll
    for (int part = 1; part < kParts; ++part) value = maximum(value, pad[part * rows + row]);
    block[row] = value;
  }
  if constexpr (kBlocks > 1) {
    cluster_sync();
  } else {
    sync();
  }
  RowValues<kTiles> all = filled_rows<kTiles>(-kInfinity<float>);
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = place.first + row_of(tile, half);
      const float* const at = block + (row < rows ? row : rows - 1);
      if constexpr (kBlocks > 1) {
#pragma unroll
        for (int rank = 0; rank < kBlocks; ++rank)
          all.v[tile][half] = maximum(all.v[tile][half], load_remote(remote_address(at, rank)));
      } else {
        all.v[tile][half] = *at;
      }
    }
  running_rows(all, m, d, raw, false, is_gauge);
  if constexpr (kBlocks > 1) {
    cluster_sync();
  } else {
    sync();
  }
}

/// to[row * stride] = the combination of the parts' row values.
template <class Op, int kParts, int kTiles>
__device__ void merge_rows(float* pad, WarpPlace place, int rows, RowValues<kTiles> values,
                           float* to, int64_t stride) {
  combine_lanes<Op>(values);
  spread_rows(pad, place, rows, values);
  sync();
  for (int row = thread(); row < rows; row += threads()) {
    float value = pad[row];
    for (int part = 1; part < kParts; ++part) value = Op::combine(value, pad[part * rows + row]);
    to[row * stride] = value;
  }
  sync();
}

/// to[row * row_stride + column * column_stride] = the sum of the parts' accumulators.
template <int kParts, int kTiles, int kGroups>
__device__ void merge_accumulator(float* pad, WarpPlace place, int rows,
                                  const Accumulator<kTiles, kGroups>& acc, float* to,
                                  int64_t row_stride, int64_t column_stride) {
  constexpr int kColumns = 8 * kGroups, kPitch = kColumns + 4;
  if (place.part >= 0)
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = place.first + row_of(tile, half);
        if (row >= rows) continue;
#pragma unroll
        for (int group = 0; group < kGroups; ++group)
#pragma unroll
          for (int e = 0; e < 2; ++e)
            pad[(place.part * rows + row) * kPitch + group * 8 + lane() % 4 * 2 + e] =
                acc.v[tile][group][2 * half + e];
      }
  sync();
  for (int i = thread(); i < rows * kColumns; i += threads()) {
    const int row = i / kColumns, column = i % kColumns;
    float sum = pad[row * kPitch + column];
#pragma unroll
    for (int part = 1; part < kParts; ++part) sum += pad[(part * rows + row) * kPitch + column];
    to[row * row_stride + column * column_stride] = sum;
  }
  sync();
}

}  // namespace mirage::cuda
