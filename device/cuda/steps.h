// The steps of generated kernels, each done by the whole block and ended by a barrier: functions of
// the same names and meaning as those of device/cpu. Every thread of the block calls them with the
// same arguments.
#pragma once

#include "mirage/cuda/block.h"
#include "mirage/cuda/math.h"
#include "mirage/cuda/storage.h"

namespace mirage::cuda {

/// Outputs may be inputs (the same elements), not overlap them otherwise.
template <class V, class Output, class F, class... Inputs>
__device__ void map_rows(int64_t rows, int64_t cols, Output output, const F& f, Inputs... inputs) {
  for_each(rows, cols, [&](int64_t row, int64_t col) {
    put(output.at(row, col), static_cast<V>(f(widen<V>(*inputs.at(row, col))...)));
  });
  sync();
}

template <class V, class S, class D>
__device__ void copy_tile(int64_t rows, int64_t cols, Tile<S> from, Tile<D> to) {
  for_each(rows, cols,
           [&](int64_t row, int64_t col) { put(to.at(row, col), widen<V>(*from.at(row, col))); });
  sync();
}

template <class V, class D>
__device__ void fill_tile(int64_t rows, int64_t cols, Tile<D> to, V value) {
  for_each(rows, cols, [&](int64_t row, int64_t col) { put(to.at(row, col), value); });
  sync();
}

struct ChainSum {
  template <class T>
  static __device__ T identity() {
    return T(0);
  }
  template <class T>
  static __device__ T combine(T a, T b) {
    return a + b;
  }
};
struct ChainMax {
  template <class T>
  static __device__ T identity() {
    return -kInfinity<T>;
  }
  template <class T>
  static __device__ T combine(T a, T b) {
    return maximum(a, b);
  }
};

template <class T>
__device__ bool is_infinite(T value) {
  return !(value - value == T(0)) && value == value;
}

/// What happens to a finished reduction before it is stored.
template <class T>
struct Finish {
  T divisor;         // of a mean
  bool accumulates;  // combine with what the output holds
  bool is_gauge;     // 0 instead of an infinite maximum

  template <class Op, class D>
  __device__ void store(T value, D* to) const {
    if (divisor != T(1)) value /= divisor;
    if (accumulates) value = Op::combine(widen<T>(*to), value);
    if (is_gauge && is_infinite(value)) value = 0;
    put(to, value);
  }
};

/// Neighbours of a row, read at once: memory answers a lane's many small loads one after the other.
inline constexpr int kRun = 8;

template <class V>
struct Run {
  V v[kRun];
};

template <class S>
__device__ bool has_runs(Contiguous<S> from, int64_t row) {
  return reinterpret_cast<uint64_t>(from.at(row, 0)) % 16 == 0;
}
template <class S>
__device__ bool has_runs(PerRow<S>, int64_t) {
  return true;
}
template <class S>
__device__ bool has_runs(Strided<S>, int64_t) {
  return false;
}

template <class V, class D>
__device__ Run<V> run_at(const D* from) {
  struct alignas(16) Words {
    D v[kRun];
  };
  const Words words = *reinterpret_cast<const Words*>(from);
  Run<V> result;
#pragma unroll
  for (int i = 0; i < kRun; ++i) result.v[i] = widen<V>(words.v[i]);
  return result;
}
template <class V, class S>
__device__ Run<V> load_run(Contiguous<S> from, int64_t row, int64_t col) {
  return run_at<V>(as_const(from.at(row, col)));
}
template <class V, class S>
__device__ Run<V> load_run(PerRow<S> from, int64_t row, int64_t col) {
  Run<V> result;
#pragma unroll
  for (int i = 0; i < kRun; ++i) result.v[i] = widen<V>(*from.at(row, col));
  return result;
}
template <class V, class S>
__device__ Run<V> load_run(Strided<S> from, int64_t row, int64_t col) {
  Run<V> result;
#pragma unroll
  for (int i = 0; i < kRun; ++i) result.v[i] = widen<V>(*from.at(row, col + i));
  return result;
}

template <class Op, class V, class F, class... Inputs>
__device__ V combine_run(V value, const F& f, const Inputs&... runs) {
#pragma unroll
  for (int i = 0; i < kRun; ++i) value = Op::combine(value, static_cast<V>(f(runs.v[i]...)));
  return value;
}

/// Op over every `members`-th part of a row's columns from `member` on.
template <class V, class Op, class F, class... Inputs>
__device__ V reduce_part(int64_t row, int64_t cols, int member, int members, const F& f,
                         const Inputs&... inputs) {
  V value = Op::template identity<V>();
  int64_t done = 0;
  if (cols >= members * kRun && (has_runs(inputs, row) && ...)) {
#pragma unroll 4
    for (int64_t col = int64_t{member} * kRun; col + kRun <= cols; col += members * kRun)
      value = combine_run<Op>(value, f, load_run<V>(inputs, row, col)...);
    done = cols / kRun * kRun;
  }
  for (int64_t col = done + member; col < cols; col += members)
    value = Op::combine(value, static_cast<V>(f(widen<V>(*inputs.at(row, col))...)));
  return value;
}

/// out[row * out_stride] = Op over the columns of f(inputs(row, col)...). A warp, or as many as
/// there are for each row (then all rows are done at once); partial results of warps are combined
/// in their order.
template <class V, class Op, class D, class F, class... Inputs>
__device__ void reduce_chain_rows(int64_t rows, int64_t cols, D* out, int64_t out_stride,
                                  const Finish<V>& finish, const F& f, Inputs... inputs) {
  struct Partial;
  V* const partial = shared_array<V, kMostWarps, Partial>();
  const int teams = rows < warps() ? static_cast<int>(rows) : warps();  // that work on a row each
  const int members = teams > 0 ? warps() / teams : 1;
  const int team = warp() / members, member = warp() % members;
  for (int64_t first = 0; first < rows; first += teams) {
    const int64_t row = first + team;
    const bool works = team < teams && row < rows;
    V value = Op::template identity<V>();
    if (works)
      value = reduce_part<V, Op>(row, cols, member * kWarp + lane(), members * kWarp, f, inputs...);
    value = combine_warp<Op>(value);
    if (members > 1) {
      if (lane() == 0) partial[warp()] = value;
      sync();
      if (works && member == 0)
        for (int other = 1; other < members; ++other)
          value = Op::combine(value, partial[warp() + other]);
    }
    if (works && member == 0 && lane() == 0)
      finish.template store<Op>(value, out + row * out_stride);
  }
  sync();
}

/// out[col * out_stride] = Op over the rows of f(inputs(row, col)...). Neighbouring threads take
/// neighbouring columns; where there are fewer columns than threads, rows are dealt out as well.
template <class V, class Op, class D, class F, class... Inputs>
__device__ void reduce_chain_cols(int64_t rows, int64_t cols, D* out, int64_t out_stride,
                                  const Finish<V>& finish, const F& f, Inputs... inputs) {
  struct Partial;
  V* const partial = shared_array<V, kMostWarps * kWarp, Partial>();
  const int width = cols < threads() ? static_cast<int>(cols) : threads();
  const int parts = width > 0 ? threads() / width : 1;
  const int part = width > 0 ? thread() / width : 0;
  for (int64_t first = 0; first < cols; first += width) {
    const int64_t col = first + (width > 0 ? thread() % width : 0);
    const bool works = part < parts && col < cols;
    V value = Op::template identity<V>();
    if (works)
      for (int64_t row = part; row < rows; row += parts)
        value = Op::combine(value, static_cast<V>(f(widen<V>(*inputs.at(row, col))...)));
    partial[thread()] = value;
    sync();
    if (works && part == 0) {
      for (int other = 1; other < parts; ++other)
        value = Op::combine(value, partial[thread() + other * width]);
      finish.template store<Op>(value, out + col * out_stride);
    }
    sync();
  }
}

/// One step of a running maximum: `raw` holds the maximum so far (-inf at first) and is raised to
/// `part`; m is the new maximum, d = old - new, 0 at the first step and where the two are equal.
/// For a gauge m is 0 where the maximum is infinite, and d is 0 as long as nothing finite has been
/// seen.
template <class T>
__device__ void running_update(int64_t count, const T* part, T* m, T* d, T* raw, bool is_first,
                               bool is_gauge) {
  const auto shift = [&](T value) { return is_gauge && is_infinite(value) ? T(0) : value; };
  for (int64_t i = thread(); i < count; i += threads()) {
    const T before = raw[i], after = maximum(before, part[i]);
    raw[i] = after;
    m[i] = shift(after);
    const bool has_none = is_gauge && before == -kInfinity<T>;
    d[i] = is_first || has_none || before == after ? T(0) : shift(before) - m[i];
  }
  sync();
}

}  // namespace mirage::cuda
