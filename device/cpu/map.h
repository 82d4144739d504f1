// Element-wise loops: a function of vectors over up to eight input streams, writing one or more
// outputs. Fused thread graphs become calls of this, for instance
//   map_rows<V>(m, n, Contiguous{out, n}, [](V x, V scale) { return silu(x) * scale; },
//   Contiguous{x, n}, PerRow{s, 1});
// Full vectors first, then one partial vector a row. Outputs may be inputs (the same elements), not
// overlap them otherwise.
#pragma once

#include <tuple>

#include "mirage/cpu/tile.h"

namespace mirage::cpu {

/// Rows of contiguous elements. row_stride 0 repeats one row: a vector along the columns.
template <class S>
struct Contiguous {
  S* data;
  int64_t row_stride;
};
/// One element a row, repeated along it. row_stride 0 repeats one scalar.
template <class S>
struct PerRow {
  S* data;
  int64_t row_stride;
};
/// Anything else; slow.
template <class S>
struct Strided {
  S* data;
  int64_t row_stride, col_stride;
};
template <class S>
Contiguous(S*, int64_t) -> Contiguous<S>;
template <class S>
PerRow(S*, int64_t) -> PerRow<S>;
template <class S>
Strided(S*, int64_t, int64_t) -> Strided<S>;

namespace detail {

// A stream at one row.
template <class V, class S>
struct ContiguousRow {
  S* data;
  V load(int64_t col) const { return V::load(data + col); }
  V load(int64_t col, int count) const { return V::load(data + col, count); }
  void store(int64_t col, V value) const { value.store(data + col); }
  void store(int64_t col, V value, int count) const { value.store(data + col, count); }
};
template <class V>
struct ConstantRow {
  V value;
  V load(int64_t /*col*/, int /*count*/ = 0) const { return value; }
};
template <class V, class S>
struct StridedRow {
  S* data;
  int64_t stride;
  V load(int64_t col, int count = V::kLanes) const {
    return V::load_strided(data + col * stride, stride, count);
  }
  void store(int64_t col, V value, int count = V::kLanes) const {
    value.store_strided(data + col * stride, stride, count);
  }
};

template <class V, class S>
ContiguousRow<V, S> row_of(Contiguous<S> stream, int64_t row) {
  return {stream.data + row * stream.row_stride};
}
template <class V, class S>
ConstantRow<V> row_of(PerRow<S> stream, int64_t row) {
  return {V::broadcast(stream.data + row * stream.row_stride)};
}
template <class V, class S>
StridedRow<V, S> row_of(Strided<S> stream, int64_t row) {
  return {stream.data + row * stream.row_stride, stream.col_stride};
}

template <class V, class... Count>
void store_results(const auto& outputs, int64_t col, V result, Count... count) {
  std::get<0>(outputs).store(col, result, count...);
}
template <class V, class... Vs, class... Count>
void store_results(const auto& outputs, int64_t col, const std::tuple<V, Vs...>& results,
                   Count... count) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    (std::get<I>(outputs).store(col, std::get<I>(results), count...), ...);
  }
  (std::index_sequence_for<V, Vs...>());
}

}  // namespace detail

/// Several outputs: f returns a std::tuple with a vector for each.
template <class V, class... Outputs, class F, class... Inputs>
void map_rows(int64_t rows, int64_t cols, const std::tuple<Outputs...>& outputs, const F& f,
              Inputs... inputs) {
  for (int64_t row = 0; row < rows; ++row) {
    const auto to = std::apply(
        [&](const auto&... output) { return std::tuple(detail::row_of<V>(output, row)...); },
        outputs);
    const auto apply = [&](const auto&... from) {
      int64_t col = 0;
      for (; col + V::kLanes <= cols; col += V::kLanes) {
        detail::store_results(to, col, f(from.load(col)...));
      }
      if (col < cols) {
        const int count = static_cast<int>(cols - col);
        detail::store_results(to, col, f(from.load(col, count)...), count);
      }
    };
    apply(detail::row_of<V>(inputs, row)...);
  }
}

/// One output: f returns a vector.
template <class V, class Output, class F, class... Inputs>
void map_rows(int64_t rows, int64_t cols, Output output, const F& f, Inputs... inputs) {
  map_rows<V>(rows, cols, std::tuple<Output>(output), f, inputs...);
}

}  // namespace mirage::cpu
