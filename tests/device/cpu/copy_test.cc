#include "mirage/cpu/copy.h"

#include "device/cpu/support.h"

namespace mirage::cpu {
namespace {

template <class T, class S, class D>
void check_copies() {
  for (const int64_t rows : {1, 2, 3, 5, 8, 15, 16, 17, 33}) {
    for (const int64_t cols : {1, 4, 7, 16, 31, 32, 40}) {
      for (const bool from_transposed : {false, true}) {
        for (const bool to_transposed : {false, true}) {
          for (const int64_t spread : {1, 3}) {
            const int64_t space = rows * cols * spread;
            const auto values = random_values<S>(space);
            GuardedBuffer<S> in(values);
            GuardedBuffer<D> out(space);
            const auto view = [&](auto* data, bool transposed) {
              using E = std::remove_pointer_t<decltype(data)>;
              return transposed ? Tile<E>{data, spread, rows * spread}
                                : Tile<E>{data, cols * spread, spread};
            };
            const auto from = view(in.data(), from_transposed);
            const auto to = view(out.data(), to_transposed);
            copy_tile<V<T>>(rows, cols, from, to);
            for (int64_t row = 0; row < rows; ++row) {
              for (int64_t col = 0; col < cols; ++col) {
                ASSERT_EQ(widen<double>(*from.at(row, col)), widen<double>(*to.at(row, col)));
              }
            }
          }
        }
      }
    }
  }
}

TEST(CopyTest, AnyStridesAndTypes) {
  check_copies<float, float, float>();
  check_copies<float, Bf16, float>();
  check_copies<float, float, F16>();
  check_copies<float, F16, Bf16>();
  check_copies<double, double, double>();
  check_copies<double, float, double>();
}

TEST(CopyTest, PaddingHoldsTheValue) {
  GuardedBuffer<float> in(random_values<float>(3 * 5)), out(8 * 9);
  copy_tile_padded<V<float>>(3, 5, Tile<float>{in.data(), 5, 1}, 8, 9,
                             Tile<float>{out.data(), 9, 1}, -7.0f);
  for (int64_t row = 0; row < 8; ++row) {
    for (int64_t col = 0; col < 9; ++col) {
      EXPECT_EQ(out[row * 9 + col], row < 3 && col < 5 ? in[row * 5 + col] : -7);
    }
  }
}

}  // namespace
}  // namespace mirage::cpu
