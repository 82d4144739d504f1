// Reductions of tiles along one dim, and the passes of the online softmax.
//
// Sums run in blocks of kBlock terms for each accumulator, block sums are added up: a sum of n
// terms passes through at most kBlock + n / kBlock + 8 additions, hence the relative error (against
// the sum of magnitudes) is at most that many times half an ulp. The order depends on extents,
// strides and the instruction set, never on data. A NaN anywhere makes the result NaN.
#pragma once

#include <algorithm>

#include "mirage/cpu/map.h"
#include "mirage/cpu/math.h"

namespace mirage::cpu {

struct Sum {
  template <class T>
  static constexpr T kIdentity = T{0};
  template <class V>
  static V combine(V a, V b) {
    return a + b;
  }
  template <class V>
  static auto fold(V a) {
    return reduce_add(a);
  }
};
struct Max {
  template <class T>
  static constexpr T kIdentity = -std::numeric_limits<T>::infinity();
  template <class V>
  static V combine(V a, V b) {
    return maximum(a, b);
  }
  template <class V>
  static auto fold(V a) {
    return reduce_max(a);
  }
};
struct Min {
  template <class T>
  static constexpr T kIdentity = std::numeric_limits<T>::infinity();
  template <class V>
  static V combine(V a, V b) {
    return minimum(a, b);
  }
  template <class V>
  static auto fold(V a) {
    return reduce_min(a);
  }
};

/// Applied to every element first. Any functor of a vector does.
struct Identity {
  template <class V>
  V operator()(V x) const {
    return x;
  }
};
struct Square {
  template <class V>
  V operator()(V x) const {
    return x * x;
  }
};

namespace detail {

constexpr int kBlock = 64;

/// One row of contiguous elements to one value.
template <class V, class Op, class Transform, class S>
typename V::Element reduce_contiguous(int64_t count, const S* from, const Transform& transform) {
  using T = typename V::Element;
  constexpr int kWays = 4;  // independent chains hide the latency of the addition
  constexpr int64_t kStep = kWays * V::kLanes;
  const V identity(Op::template kIdentity<T>);
  V total = identity;
  int64_t i = 0;
  while (i + kStep <= count) {
    const int64_t end = std::min(count - kStep, i + (kBlock - 1) * kStep);
    V part[kWays] = {identity, identity, identity, identity};
    for (; i <= end; i += kStep) {
      for (int way = 0; way < kWays; ++way) {
        part[way] = Op::combine(part[way], transform(V::load(from + i + way * V::kLanes)));
      }
    }
    total = Op::combine(total,
                        Op::combine(Op::combine(part[0], part[1]), Op::combine(part[2], part[3])));
  }
  V rest = identity;
  for (; i + V::kLanes <= count; i += V::kLanes)
    rest = Op::combine(rest, transform(V::load(from + i)));
  if (i < count) {
    const int lanes = static_cast<int>(count - i);
    rest = Op::combine(rest, first_lanes(transform(V::load(from + i, lanes)), identity, lanes));
  }
  return Op::fold(Op::combine(total, rest));
}

/// Rows side by side: a vector holds as many rows, `Width` vectors at once, walking along the
/// reduced dim.
template <class V, int Width, class Op, class Transform, class S, class D>
void reduce_side_by_side(int rows, int64_t count, Tile<const S> from, D* to, int64_t to_stride,
                         const Transform& transform) {
  using T = typename V::Element;
  const auto load = [&](int64_t row, int64_t col, int lanes) {
    if (from.row_stride != 1) return V::load_strided(from.at(row, col), from.row_stride, lanes);
    return lanes == V::kLanes ? V::load(from.at(row, col)) : V::load(from.at(row, col), lanes);
  };
  const auto lanes_of = [&](int v) { return std::clamp(rows - v * V::kLanes, 0, V::kLanes); };
  V total[Width];
  for (V& v : total) v = V(Op::template kIdentity<T>);
  for (int64_t block = 0; block < count; block += kBlock) {
    V part[Width];
    for (V& v : part) v = V(Op::template kIdentity<T>);
    const int64_t end = std::min<int64_t>(count, block + kBlock);
    for (int64_t col = block; col < end; ++col) {
      for (int v = 0; v < Width; ++v) {
        part[v] = Op::combine(part[v], transform(load(v * V::kLanes, col, lanes_of(v))));
      }
    }
    for (int v = 0; v < Width; ++v) total[v] = Op::combine(total[v], part[v]);
  }
  for (int v = 0; v < Width; ++v) {
    D* const place = to + v * V::kLanes * to_stride;
    if (to_stride == 1) {
      total[v].store(place, lanes_of(v));
    } else {
      total[v].store_strided(place, to_stride, lanes_of(v));
    }
  }
}

}  // namespace detail

/// out[row * out_stride] = Op over the columns of transform(in(row, col)). For the other dim pass
/// the tile with its strides exchanged (reduce_cols does).
template <class V, class Op, class S, class D, class Transform = Identity>
void reduce_rows(int64_t rows, int64_t cols, Tile<const S> in, D* out, int64_t out_stride,
                 const Transform& transform = {}) {
  if (in.col_stride == 1) {
    for (int64_t row = 0; row < rows; ++row) {
      out[row * out_stride] =
          convert<D>(detail::reduce_contiguous<V, Op>(cols, in.at(row, 0), transform));
    }
    return;
  }
  constexpr int kWidth = 4;
  int64_t row = 0;
  const auto rest = [&](int64_t at) {
    return Tile<const S>{in.at(at, 0), in.row_stride, in.col_stride};
  };
  for (; row + kWidth * V::kLanes <= rows; row += kWidth * V::kLanes) {
    detail::reduce_side_by_side<V, kWidth, Op>(kWidth * V::kLanes, cols, rest(row),
                                               out + row * out_stride, out_stride, transform);
  }
  for (; row < rows; row += V::kLanes) {
    const int count = static_cast<int>(std::min<int64_t>(V::kLanes, rows - row));
    detail::reduce_side_by_side<V, 1, Op>(count, cols, rest(row), out + row * out_stride,
                                          out_stride, transform);
  }
}

/// out[col * out_stride] = Op over the rows of transform(in(row, col)).
template <class V, class Op, class S, class D, class Transform = Identity>
void reduce_cols(int64_t rows, int64_t cols, Tile<const S> in, D* out, int64_t out_stride,
                 const Transform& transform = {}) {
  reduce_rows<V, Op>(cols, rows, Tile<const S>{in.data, in.col_stride, in.row_stride}, out,
                     out_stride, transform);
}

/// The online softmax, first pass over a tile of scores with contiguous rows: raises row_max[row]
/// to the maximum of the row, and sets correction[row] = exp(old maximum - new maximum), by which
/// sums and outputs so far must be multiplied. Start with row_max = -inf; rows that have seen only
/// -inf keep it, with a correction of 1.
template <class V, class S>
void row_max_update(int64_t rows, int64_t cols, Contiguous<const S> scores,
                    typename V::Element* row_max, typename V::Element* correction) {
  for (int64_t row = 0; row < rows; ++row) {
    const auto found =
        detail::reduce_contiguous<V, Max>(cols, scores.data + row * scores.row_stride, Identity{});
    const V before(row_max[row]), after = maximum(before, V(found));
    correction[row] = select(before == after, V(1), exp(before - after))[0];
    row_max[row] = after[0];
  }
}

/// Second pass: out = exp(scores - row_max), row_sum = row_sum * correction + sum of the row. Start
/// with row_sum = 0. `out` may be `scores`.
template <class V, class S, class D>
void exp_shift_rowsum(int64_t rows, int64_t cols, Contiguous<const S> scores,
                      const typename V::Element* row_max, const typename V::Element* correction,
                      Contiguous<D> out, typename V::Element* row_sum) {
  using T = typename V::Element;
  for (int64_t row = 0; row < rows; ++row) {
    const S* const from = scores.data + row * scores.row_stride;
    D* const to = out.data + row * out.row_stride;
    // A row of -inf has no finite maximum to shift by; its exponentials are 0.
    const V shift(row_max[row] == -std::numeric_limits<T>::infinity() ? T{0} : row_max[row]);
    V even(T{0}), odd(T{0});
    int64_t col = 0;
    for (; col + 2 * V::kLanes <= cols; col += 2 * V::kLanes) {
      const V first = exp(V::load(from + col) - shift),
              second = exp(V::load(from + col + V::kLanes) - shift);
      first.store(to + col);
      second.store(to + col + V::kLanes);
      even += first;
      odd += second;
    }
    for (; col < cols; col += V::kLanes) {
      const int lanes = static_cast<int>(std::min<int64_t>(V::kLanes, cols - col));
      const V value = exp(V::load(from + col, lanes) - shift);
      value.store(to + col, lanes);
      odd += first_lanes(value, V(T{0}), lanes);
    }
    row_sum[row] = row_sum[row] * correction[row] + reduce_add(even + odd);
  }
}

}  // namespace mirage::cpu
