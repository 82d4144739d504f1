// Values of a loop step in the registers of a warp, laid out as the tensor cores want them.
//
// A warp holds rows in tiles of 16 and the elements of its step in slices of 16. Lane 4 g + q holds
// of every 16 x 16 tile rows g and g + 8 and columns 2 q, 2 q + 1, 2 q + 8, 2 q + 9: what it gets
// of a product as well as what it gives as left operand. Rows that do not exist hold copies of
// others; nobody reads what becomes of them.
#pragma once

#include "mirage/cuda/block.h"
#include "mirage/cuda/steps.h"

namespace mirage::cuda {

/// Element e of a lane is in row g + 8 * (e / 2 % 2), column 2 q + e % 2 + 8 * (e / 4).
template <int kTiles, int kSlices>
struct Fragments {
  float v[kTiles][kSlices][8];
};
/// One value a row: the same in the four lanes of a row, or a part of a sum in each.
template <int kTiles>
struct RowValues {
  float v[kTiles][2];
};
/// One value a column of the slices.
template <int kSlices>
struct ColumnValues {
  float v[kSlices][4];
};
/// Sums of products: rows x groups of 8 columns; elements as the first four of Fragments.
template <int kTiles, int kGroups>
struct Accumulator {
  float v[kTiles][kGroups][4];
};
/// Left operand of products: pairs of 16-bit elements.
template <class S, int kTiles, int kSlices>
struct LeftOperand {
  uint32_t v[kTiles][kSlices][4];
};

inline __device__ int row_of(int tile, int half) { return tile * 16 + half * 8 + lane() / 4; }
inline __device__ int column_of(int slice, int e) {
  return slice * 16 + e / 2 * 8 + lane() % 4 * 2 + e % 2;
}

// Element e of tile and slice of anything that spreads over them.
template <int kTiles, int kSlices>
__device__ float element(const Fragments<kTiles, kSlices>& a, int tile, int slice, int e) {
  return a.v[tile][slice][e];
}
template <int kTiles>
__device__ float element(const RowValues<kTiles>& a, int tile, int, int e) {
  return a.v[tile][e / 2 % 2];
}
template <int kSlices>
__device__ float element(const ColumnValues<kSlices>& a, int, int slice, int e) {
  return a.v[slice][e % 2 + e / 4 * 2];
}
inline __device__ float element(float a, int, int, int) { return a; }

template <int kTiles, int kSlices, class F, class... Inputs>
__device__ Fragments<kTiles, kSlices> map_fragments(const F& f, const Inputs&... inputs) {
  Fragments<kTiles, kSlices> result;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice)
#pragma unroll
      for (int e = 0; e < 8; ++e) result.v[tile][slice][e] = f(element(inputs, tile, slice, e)...);
  return result;
}
template <int kTiles, class F, class... Inputs>
__device__ RowValues<kTiles> map_row_values(const F& f, const Inputs&... inputs) {
  RowValues<kTiles> result;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      result.v[tile][half] = f(element(inputs, tile, 0, 2 * half)...);
  return result;
}
template <int kSlices, class F, class... Inputs>
__device__ ColumnValues<kSlices> map_column_values(const F& f, const Inputs&... inputs) {
  ColumnValues<kSlices> result;
#pragma unroll
  for (int slice = 0; slice < kSlices; ++slice)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      result.v[slice][e] = f(element(inputs, 0, slice, e % 2 + e / 2 * 4)...);
  return result;
}
/// acc = f(acc, row values...)
template <int kTiles, int kGroups, class F, class... Inputs>
__device__ void map_accumulator(Accumulator<kTiles, kGroups>& acc, const F& f,
                                const Inputs&... inputs) {
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int group = 0; group < kGroups; ++group)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        acc.v[tile][group][e] = f(acc.v[tile][group][e], element(inputs, tile, 0, e)...);
}

/// rows = Op(rows, f over the columns that this lane holds)
template <class Op, int kSlices, int kTiles, class F, class... Inputs>
__device__ void reduce_fragments(RowValues<kTiles>& rows, const F& f, const Inputs&... inputs) {
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice)
#pragma unroll
      for (int e = 0; e < 8; ++e)
        rows.v[tile][e / 2 % 2] =
            Op::combine(rows.v[tile][e / 2 % 2], f(element(inputs, tile, slice, e)...));
}
/// The combination over the four lanes of each row, in all of them.
template <class Op, int kTiles>
__device__ void combine_lanes(RowValues<kTiles>& rows) {
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int mask = 1; mask <= 2; mask *= 2)
        rows.v[tile][half] =
            Op::combine(rows.v[tile][half], from_lane_xor(rows.v[tile][half], mask));
}

template <int kTiles>
__device__ RowValues<kTiles> filled_rows(float value) {
  RowValues<kTiles> rows;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) rows.v[tile][0] = rows.v[tile][1] = value;
  return rows;
}
template <int kTiles, int kGroups>
__device__ Accumulator<kTiles, kGroups> filled_accumulator(float value) {
  Accumulator<kTiles, kGroups> acc;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int group = 0; group < kGroups; ++group)
#pragma unroll
      for (int e = 0; e < 4; ++e) acc.v[tile][group][e] = value;
  return acc;
}

// ---- 16-bit pairs ----

template <class S>
__device__ uint32_t pack(float low, float high) {
  return kIsSame<S, F16> ? f16_pair(low, high) : bf16_pair(low, high);
}
template <class S>
__device__ float low_of(uint32_t pair) {
  return to_float(S{static_cast<uint16_t>(pair & 0xffff)});
}
template <class S>
__device__ float high_of(uint32_t pair) {
  return to_float(S{static_cast<uint16_t>(pair >> 16)});
}

template <class S, int kTiles, int kSlices>
__device__ LeftOperand<S, kTiles, kSlices> as_left(const Fragments<kTiles, kSlices>& a) {
  LeftOperand<S, kTiles, kSlices> result;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice)
#pragma unroll
      for (int pair = 0; pair < 4; ++pair)
        result.v[tile][slice][pair] =
            pack<S>(a.v[tile][slice][2 * pair], a.v[tile][slice][2 * pair + 1]);
  return result;
}
/// One row for all.
template <class S, int kTiles, int kSlices>
__device__ LeftOperand<S, kTiles, kSlices> as_left(const ColumnValues<kSlices>& a) {
  LeftOperand<S, kTiles, kSlices> result;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice) {
      result.v[tile][slice][0] = result.v[tile][slice][1] = pack<S>(a.v[slice][0], a.v[slice][1]);
      result.v[tile][slice][2] = result.v[tile][slice][3] = pack<S>(a.v[slice][2], a.v[slice][3]);
    }
  return result;
}
template <class S, int kTiles, int kSlices>
__device__ Fragments<kTiles, kSlices> as_fragments(const LeftOperand<S, kTiles, kSlices>& a) {
  Fragments<kTiles, kSlices> result;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice)
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {
        result.v[tile][slice][2 * pair] = low_of<S>(a.v[tile][slice][pair]);
        result.v[tile][slice][2 * pair + 1] = high_of<S>(a.v[tile][slice][pair]);
      }
  return result;
}

// ---- from memory of any strides, before the loop ----

/// Rows `first` and on of a matrix of `rows` rows and 16 * kSlices columns.
template <class S, int kTiles, int kSlices, class D>
__device__ LeftOperand<S, kTiles, kSlices> load_left(Tile<const D> from, int first, int rows) {
  LeftOperand<S, kTiles, kSlices> result;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice)
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {
        const int row = first + row_of(tile, pair % 2), column = column_of(slice, pair / 2 * 2);
        const D* const at = from.at(row < rows ? row : rows - 1, column);
        result.v[tile][slice][pair] =
            pack<S>(widen<float>(at[0]), widen<float>(at[from.col_stride]));
      }
  return result;
}
template <int kTiles, class D>
__device__ RowValues<kTiles> load_rows(const D* from, int64_t stride, int first, int rows) {
  RowValues<kTiles> result;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first + row_of(tile, half);
      result.v[tile][half] = widen<float>(from[(row < rows ? row : rows - 1) * stride]);
    }
  return result;
}

// ---- from a stage ----

/// A matrix of 16-bit elements in shared memory as the copy engine leaves it: boxes of kWidth
/// columns side by side, kBoxBytes apart, their 16-byte pieces permuted within 128, 64 or 32 bytes
/// where a row of a box has that size.
template <class S, int kWidth, int kBoxBytes>
struct Staged {
  uint32_t base;

  /// Address of 8 neighbours from a column that is a multiple of 8.
  __device__ uint32_t at(int row, int column) const {
    const int box = column / kWidth, piece = column % kWidth / 8;
    int swap = 0;
    if constexpr (kWidth == 64) swap = row & 7;
    if constexpr (kWidth == 32) swap = row >> 1 & 3;
    if constexpr (kWidth == 16) swap = row >> 2 & 1;
    return base + box * kBoxBytes + row * (2 * kWidth) + ((piece ^ swap) << 4);
  }
};

/// Rows `first` and on, columns `column` and on, of a staged matrix of `rows` rows.
template <int kTiles, int kSlices, class S, int kWidth, int kBoxBytes>
__device__ LeftOperand<S, kTiles, kSlices> load_left(Staged<S, kWidth, kBoxBytes> from, int first,
                                                     int rows, int column) {
  LeftOperand<S, kTiles, kSlices> result;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    const int row = first + tile * 16 + lane() % 16, last = rows - 1;
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice)
      load_matrices(result.v[tile][slice],
                    from.at(row < last ? row : last, column + slice * 16 + lane() / 16 * 8));
  }
  return result;
}
/// The first row of a staged matrix.
template <int kSlices, class S, int kWidth, int kBoxBytes>
__device__ ColumnValues<kSlices> load_columns(Staged<S, kWidth, kBoxBytes> from, int column) {
  ColumnValues<kSlices> result;
#pragma unroll
  for (int slice = 0; slice < kSlices; ++slice)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const uint32_t pair =
          load_shared(from.at(0, column + slice * 16 + half * 8) + lane() % 4 * 4);
      result.v[slice][2 * half] = low_of<S>(pair);
      result.v[slice][2 * half + 1] = high_of<S>(pair);
    }
  return result;
}

/// f of every element of rows `first` and on of a staged matrix, combined over its kDepth columns:
/// one value for each of the rows, which are columns of the slices.
template <class Op, int kSlices, int kDepth, class S, int kWidth, int kBoxBytes, class F>
__device__ ColumnValues<kSlices> reduce_staged(Staged<S, kWidth, kBoxBytes> from, int first,
                                               const F& f) {
  ColumnValues<kSlices> result;
#pragma unroll
  for (int slice = 0; slice < kSlices; ++slice) {
    // Two lanes a row, every other piece of 8 elements each.
    float value = Op::template identity<float>();
#pragma unroll
    for (int piece = 0; piece < kDepth / 16; ++piece) {
      uint32_t r[4];
      load_shared(r, from.at(first + slice * 16 + lane() / 2, piece * 16 + lane() % 2 * 8));
#pragma unroll
      for (int pair = 0; pair < 4; ++pair)
        value = Op::combine(value, Op::combine(f(low_of<S>(r[pair])), f(high_of<S>(r[pair]))));
    }
    value = Op::combine(value, from_lane_xor(value, 1));
#pragma unroll
    for (int e = 0; e < 4; ++e)
      result.v[slice][e] = from_lane(value, 2 * (lane() % 4 * 2 + e % 2 + e / 2 * 8));
  }
  return result;
}

// ---- products ----

template <class S>
__device__ void mma(float* c, const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  if constexpr (kIsSame<S, F16>) {
    mma_f16(c, a, b0, b1);
  } else {
    mma_bf16(c, a, b0, b1);
  }
}

/// Which axis of a right operand (k, n) its staged rows are.
enum class Rows { K, N };

/// The right operand's k16 x n16 tile at (k, n): pairs 0 and 1 of columns 0 to 7, then of 8 to 15;
/// the first 8 columns twice where there are no others.
template <Rows kRows, class S, int kWidth, int kBoxBytes>
__device__ void load_right(uint32_t (&r)[4], Staged<S, kWidth, kBoxBytes> from, int k, int n,
                           bool has_second = true) {
  const int inner = lane() % 8, along_k = lane() / 8 % 2 * 8;
  const int along_n = has_second ? lane() / 16 * 8 : 0;
  if constexpr (kRows == Rows::K) {
    load_transposed(r, from.at(k + along_k + inner, n + along_n));
  } else {
    load_matrices(r, from.at(n + along_n + inner, k + along_k));
  }
}

/// acc += a * b[k ... k + 16 kSlices, n ... n + 8 kGroups]
template <Rows kRows, class S, int kTiles, int kSlices, int kGroups, int kWidth, int kBoxBytes>
__device__ void multiply_add(Accumulator<kTiles, kGroups>& acc,
                             const LeftOperand<S, kTiles, kSlices>& a,
                             Staged<S, kWidth, kBoxBytes> b, int k, int n) {
#pragma unroll
  for (int slice = 0; slice < kSlices; ++slice)
#pragma unroll
    for (int group = 0; group < kGroups; group += 2) {
      const bool has_second = group + 1 < kGroups;
      uint32_t r[4];
      load_right<kRows>(r, b, k + slice * 16, n + group * 8, has_second);
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        mma<S>(acc.v[tile][group], a.v[tile][slice], r[0], r[1]);
        if (has_second) mma<S>(acc.v[tile][group + 1], a.v[tile][slice], r[2], r[3]);
      }
    }
}
/// a * b[0 ... 16 kDepth, n ... n + 16 kSlices]
template <Rows kRows, int kSlices, class S, int kTiles, int kDepth, int kWidth, int kBoxBytes>
__device__ Fragments<kTiles, kSlices> multiply(const LeftOperand<S, kTiles, kDepth>& a,
                                               Staged<S, kWidth, kBoxBytes> b, int n) {
  Fragments<kTiles, kSlices> result = {};
#pragma unroll
  for (int k = 0; k < kDepth; ++k)
#pragma unroll
    for (int slice = 0; slice < kSlices; ++slice) {
      uint32_t r[4];
      load_right<kRows>(r, b, k * 16, n + slice * 16);
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        mma<S>(&result.v[tile][slice][0], a.v[tile][k], r[0], r[1]);
        mma<S>(&result.v[tile][slice][4], a.v[tile][k], r[2], r[3]);
      }
    }
  return result;
}

// ---- running maxima ----

/// Whether any row of this warp has a factor that changes something.
template <int kTiles>
__device__ bool has_factor(const RowValues<kTiles>& factors) {
  bool has = false;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
    has |= factors.v[tile][0] != 1.0f || factors.v[tile][1] != 1.0f;
  return __any_sync(0xffffffffu, has);
}

/// One step of running maxima, as running_update (steps.h), of this warp's part of the loop.
template <int kTiles>
__device__ void running_rows(const RowValues<kTiles>& part, RowValues<kTiles>& m,
                             RowValues<kTiles>& d, RowValues<kTiles>& raw, bool is_first,
                             bool is_gauge) {
  const auto shift = [&](float value) { return is_gauge && is_infinite(value) ? 0.0f : value; };
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float before = raw.v[tile][half], after = maximum(before, part.v[tile][half]);
      raw.v[tile][half] = after;
      m.v[tile][half] = shift(after);
      const bool has_none = is_gauge && before == -kInfinity<float>;
      d.v[tile][half] =
          is_first || has_none || before == after ? 0.0f : shift(before) - shift(after);
    }
}

}  // namespace mirage::cuda
