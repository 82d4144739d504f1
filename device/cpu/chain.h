// Reductions of element-wise chains over any number of streams, and the state of the online
// maximum: what fused reduction steps of generated code call. Same orders of summation as reduce.h.
#pragma once

#include "mirage/cpu/reduce.h"

namespace mirage::cpu {

/// What happens to a finished reduction before it is stored.
template <class T>
struct Finish {
  T divisor = 1;             // of a mean
  bool accumulates = false;  // combine with what the output holds
  bool is_gauge = false;     // 0 instead of an infinite maximum

  template <class Op, class D>
  void store(T value, D* to) const {
    if (divisor != T{1}) value /= divisor;
    if (accumulates) value = Op::combine_one(widen<T>(*to), value);
    if (is_gauge && !(value - value == T{0}) && value == value) value = 0;
    *to = convert<D>(value);
  }
};

struct ChainSum : Sum {
  template <class T>
  static T combine_one(T a, T b) {
    return a + b;
  }
};
struct ChainMax : Max {
  template <class T>
  static T combine_one(T a, T b) {
    return a != a ? a : a > b ? a : b;
  }
};

/// out[row * out_stride] = Op over the columns of f(inputs(row, col)...).
template <class V, class Op, class D, class F, class... Inputs>
void reduce_chain_rows(int64_t rows, int64_t cols, D* out, int64_t out_stride,
                       const Finish<typename V::Element>& finish, const F& f, Inputs... inputs) {
  using T = typename V::Element;
  const V identity(Op::template kIdentity<T>);
  const auto reduce = [&](const auto&... from) {
    constexpr int kWays = 4;
    constexpr int64_t kStep = kWays * V::kLanes;
    V total = identity;
    int64_t col = 0;
    while (col + kStep <= cols) {
      const int64_t end = std::min(cols - kStep, col + (detail::kBlock - 1) * kStep);
      V part[kWays] = {identity, identity, identity, identity};
      for (; col <= end; col += kStep) {
#pragma GCC unroll 4
        for (int way = 0; way < kWays; ++way)
          part[way] = Op::combine(part[way], f(from.load(col + way * V::kLanes)...));
      }
      total = Op::combine(
          total, Op::combine(Op::combine(part[0], part[1]), Op::combine(part[2], part[3])));
    }
    V rest = identity;
    for (; col + V::kLanes <= cols; col += V::kLanes)
      rest = Op::combine(rest, f(from.load(col)...));
    if (col < cols) {
      const int lanes = static_cast<int>(cols - col);
      rest = Op::combine(rest, first_lanes(f(from.load(col, lanes)...), identity, lanes));
    }
    return Op::fold(Op::combine(total, rest));
  };
  for (int64_t row = 0; row < rows; ++row)
    finish.template store<Op>(reduce(detail::row_of<V>(inputs, row)...), out + row * out_stride);
}

/// out[col * out_stride] = Op over the rows of f(inputs(row, col)...).
template <class V, class Op, class D, class F, class... Inputs>
void reduce_chain_cols(int64_t rows, int64_t cols, D* out, int64_t out_stride,
                       const Finish<typename V::Element>& finish, const F& f, Inputs... inputs) {
  using T = typename V::Element;
  const V identity(Op::template kIdentity<T>);
  constexpr int kWide = 4;
  const auto reduce = [&]<int kWidth>(std::integral_constant<int, kWidth>, int64_t col, int lanes) {
    V total[kWidth];
    for (V& v : total) v = identity;
    for (int64_t block = 0; block < rows; block += detail::kBlock) {
      V part[kWidth];
      for (V& v : part) v = identity;
      const int64_t end = std::min<int64_t>(rows, block + detail::kBlock);
      for (int64_t row = block; row < end; ++row) {
        const auto add = [&](const auto&... from) {
#pragma GCC unroll 4
          for (int v = 0; v < kWidth; ++v) {
            const int64_t at = col + v * V::kLanes;
            part[v] = Op::combine(
                part[v], lanes == V::kLanes ? f(from.load(at)...) : f(from.load(at, lanes)...));
          }
        };
        add(detail::row_of<V>(inputs, row)...);
      }
      for (int v = 0; v < kWidth; ++v) total[v] = Op::combine(total[v], part[v]);
    }
    for (int v = 0; v < kWidth; ++v)
      for (int lane = 0; lane < lanes; ++lane)
        finish.template store<Op>(total[v][lane], out + (col + v * V::kLanes + lane) * out_stride);
  };
  int64_t col = 0;
  for (; col + kWide * V::kLanes <= cols; col += kWide * V::kLanes)
    reduce(std::integral_constant<int, kWide>(), col, V::kLanes);
  for (; col < cols; col += V::kLanes)
    reduce(std::integral_constant<int, 1>(), col,
           static_cast<int>(std::min<int64_t>(V::kLanes, cols - col)));
}

/// One step of a running maximum: `raw` holds the maximum so far (-inf at first) and is raised to
/// `part`; m is the new maximum, d = old - new, 0 at the first step and where the two are equal.
/// For a gauge m is 0 where the maximum is infinite, and d is 0 as long as nothing finite has been
/// seen.
template <class T>
void running_update(int64_t count, const T* part, T* m, T* d, T* raw, bool is_first,
                    bool is_gauge) {
  const auto shift = [&](T value) {
    return is_gauge && value - value != T{0} && value == value ? T{0} : value;
  };
  for (int64_t i = 0; i < count; ++i) {
    const T before = raw[i], after = ChainMax::combine_one(before, part[i]);
    raw[i] = after;
    m[i] = shift(after);
    const bool has_none = is_gauge && before == Max::kIdentity<T>;
    d[i] = is_first || has_none || before == after ? T{0} : shift(before) - m[i];
  }
}

}  // namespace mirage::cpu
