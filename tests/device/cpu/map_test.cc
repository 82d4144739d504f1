#include "mirage/cpu/map.h"

#include "device/cpu/support.h"
#include "mirage/cpu/math.h"

namespace mirage::cpu {
namespace {

template <class T, class S, class D>
void check_map(int64_t rows, int64_t cols) {
  GuardedBuffer<S> x(random_values<S>(rows * cols)), vector(random_values<S>(cols)),
      per_row(random_values<S>(rows)), strided(random_values<S>(rows * cols * 2 - 1));
  GuardedBuffer<D> sum(rows * cols), product(rows * cols * 2 - 1);
  const auto body = [](auto a, auto b, auto c, auto d) {
    return std::tuple((a + b) + (c + d), a * b);
  };
  map_rows<V<T>>(rows, cols,
                 std::tuple(Contiguous{sum.data(), cols}, Strided{product.data(), cols * 2, 2}),
                 body, Contiguous{x.data(), cols}, Contiguous{vector.data(), 0},
                 PerRow{per_row.data(), 1}, Strided{strided.data(), cols * 2, 2});
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) {
      const int64_t i = row * cols + col;
      EXPECT_EQ(sum[i], widen<double>(convert<D>(
                            static_cast<T>(x[i] + vector[col] + per_row[row] + strided[2 * i]))));
      EXPECT_EQ(product[2 * i], widen<double>(convert<D>(static_cast<T>(x[i] * vector[col]))));
    }
  }
}

TEST(MapTest, AllStreamsAllTails) {
  for (const int64_t rows : {1, 3}) {
    for (int64_t cols = 1; cols <= 33; ++cols) {
      check_map<float, float, float>(rows, cols);
      check_map<float, Bf16, Bf16>(rows, cols);
      check_map<float, F16, float>(rows, cols);
      check_map<double, double, double>(rows, cols);
    }
  }
}

TEST(MapTest, InPlace) {
  GuardedBuffer<float> x(std::vector<float>(21, -1.0f));
  map_rows<V<float>>(
      3, 7, Contiguous{x.data(), 7}, [](auto a) { return relu(a) + V<float>(2); },
      Contiguous{x.data(), 7});
  for (int64_t i = 0; i < 21; ++i) EXPECT_EQ(x[i], 2);
}

}  // namespace
}  // namespace mirage::cpu
