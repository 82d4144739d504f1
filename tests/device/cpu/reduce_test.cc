#include "mirage/cpu/reduce.h"

#include "device/cpu/support.h"

namespace mirage::cpu {
namespace {

template <class T, class S>
void check_reductions(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride) {
  const int64_t space = (rows - 1) * row_stride + (cols - 1) * col_stride + 1;
  GuardedBuffer<S> in(random_values<S>(space));
  const Tile<const S> tile{in.data(), row_stride, col_stride};
  const auto at = [&](int64_t row, int64_t col) { return in[row * row_stride + col * col_stride]; };
  const size_t row_count = static_cast<size_t>(rows), col_count = static_cast<size_t>(cols);
  std::vector<T> sum(row_count), largest(row_count), smallest(row_count), squares(row_count * 2),
      column_sum(col_count);
  reduce_rows<V<T>, Sum>(rows, cols, tile, sum.data(), 1);
  reduce_rows<V<T>, Max>(rows, cols, tile, largest.data(), 1);
  reduce_rows<V<T>, Min>(rows, cols, tile, smallest.data(), 1);
  reduce_rows<V<T>, Sum>(rows, cols, tile, squares.data(), 2, Square{});
  reduce_cols<V<T>, Sum>(rows, cols, tile, column_sum.data(), 1);
  // Random values are multiples of 1/32 and few: sums are exact in any order.
  for (int64_t row = 0; row < rows; ++row) {
    double s = 0, high = -HUGE_VAL, low = HUGE_VAL, q = 0;
    for (int64_t col = 0; col < cols; ++col) {
      s += at(row, col);
      q += at(row, col) * at(row, col);
      high = std::max(high, at(row, col));
      low = std::min(low, at(row, col));
    }
    EXPECT_EQ(sum[static_cast<size_t>(row)], s);
    EXPECT_EQ(squares[static_cast<size_t>(row * 2)], q);
    EXPECT_EQ(largest[static_cast<size_t>(row)], high);
    EXPECT_EQ(smallest[static_cast<size_t>(row)], low);
  }
  for (int64_t col = 0; col < cols; ++col) {
    double s = 0;
    for (int64_t row = 0; row < rows; ++row) s += at(row, col);
    EXPECT_EQ(column_sum[static_cast<size_t>(col)], s);
  }
}

TEST(ReduceTest, AnyStridesAndTypes) {
  for (const int64_t rows : {1, 3, 16, 33, 70}) {
    for (const int64_t cols : {1, 2, 7, 8, 15, 16, 17, 31, 64, 100, 1000}) {
      check_reductions<float, float>(rows, cols, cols, 1);
      check_reductions<float, float>(rows, cols, 1, rows);
      check_reductions<float, Bf16>(rows, cols, cols + 3, 1);
      check_reductions<float, F16>(rows, cols, 2 * cols, 2);
      check_reductions<double, double>(rows, cols, cols, 1);
      check_reductions<double, float>(rows, cols, 1, rows);
    }
  }
}

TEST(ReduceTest, NanWinsInAnyPlace) {
  for (int64_t place = 0; place < 77; ++place) {
    std::vector<float> values(77, 1.0f);
    values[static_cast<size_t>(place)] = NAN;
    float largest = 0, smallest = 0;
    reduce_rows<V<float>, Max>(1, 77, Tile<const float>{values.data(), 77, 1}, &largest, 1);
    reduce_rows<V<float>, Min>(1, 77, Tile<const float>{values.data(), 77, 1}, &smallest, 1);
    EXPECT_TRUE(std::isnan(largest) && std::isnan(smallest));
  }
}

TEST(ReduceTest, LongSumsKeepTheirBound) {
  const int64_t n = 1 << 22;
  std::vector<float> values(static_cast<size_t>(n));
  double exact = 0;
  std::uniform_real_distribution<float> unit(0, 1);
  for (float& value : values) exact += value = unit(generator());
  float by_row = 0, by_col = 0;
  reduce_rows<V<float>, Sum>(1, n, Tile<const float>{values.data(), n, 1}, &by_row, 1);
  reduce_cols<V<float>, Sum>(n, 1, Tile<const float>{values.data(), 1, n}, &by_col, 1);
  const double bound = (64 + double(n) / 64 + 8) * 0x1p-24 * exact;
  EXPECT_NEAR(by_row, exact, bound);
  EXPECT_NEAR(by_col, exact, bound);
}

TEST(ReduceTest, OnlineSoftmaxOverTilesIsSoftmax) {
  const int64_t rows = 5, cols = 75, tile = 25;
  std::vector<float> scores(rows * cols);
  std::uniform_real_distribution<float> wide(-30, 30);
  for (float& score : scores) score = wide(generator());
  for (int64_t col = 0; col < tile; ++col)
    scores[static_cast<size_t>(col)] = -HUGE_VALF;  // row 0: first tile masked
  for (int64_t col = 0; col < cols; ++col)
    scores[static_cast<size_t>(4 * cols + col)] = -HUGE_VALF;  // row 4: all masked
  std::vector<float> row_max(rows, -HUGE_VALF), row_sum(rows, 0.0f), correction(rows),
      out(rows * tile);
  for (int64_t first = 0; first < cols; first += tile) {
    const Contiguous<const float> part{scores.data() + first, cols};
    row_max_update<V<float>>(rows, tile, part, row_max.data(), correction.data());
    exp_shift_rowsum<V<float>>(rows, tile, part, row_max.data(), correction.data(),
                               Contiguous<float>{out.data(), tile}, row_sum.data());
  }
  for (int64_t row = 0; row < rows; ++row) {
    const float* const begin = &scores[static_cast<size_t>(row * cols)];
    const float largest = *std::max_element(begin, begin + cols);
    double sum = 0;
    for (int64_t col = 0; row != 4 && col < cols; ++col)
      sum += std::exp(double(begin[col]) - largest);
    EXPECT_EQ(row_max[static_cast<size_t>(row)], largest);
    EXPECT_NEAR(row_sum[static_cast<size_t>(row)], sum, sum * 1e-6);
    for (int64_t col = 0; row != 4 && col < tile; ++col) {
      EXPECT_NEAR(out[static_cast<size_t>(row * tile + col)],
                  std::exp(double(begin[cols - tile + col]) - largest), 1e-6);
    }
  }
}

}  // namespace
}  // namespace mirage::cpu
