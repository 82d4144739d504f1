#include "mirage/cpu/gemm.h"

#include "device/cpu/support.h"

namespace mirage::cpu {
namespace {

/// One product against a loop in double. Values are small multiples of 1/32, so every sum is exact
/// and the results are equal.
template <class T, class SA, class SB, class SC, bool kTransposed>
void check_product(int64_t m, int64_t n, int64_t k, int64_t gap, bool a_transposed, Start start) {
  const Tile<const SA> shape =
      a_transposed ? Tile<const SA>{nullptr, 1, m + gap} : Tile<const SA>{nullptr, k + gap, 1};
  const int64_t a_space = (m - 1) * shape.row_stride + (k - 1) * shape.col_stride + 1;
  const int64_t b_stride = (kTransposed ? k : n) + gap, c_stride = n + gap;
  const int64_t b_space = ((kTransposed ? n : k) - 1) * b_stride + (kTransposed ? k : n);
  GuardedBuffer<SA> a(random_values<SA>(a_space));
  GuardedBuffer<SB> b(random_values<SB>(b_space));
  const auto before = random_values<SC>((m - 1) * c_stride + n);
  GuardedBuffer<SC> c(before);
  Workspace workspace;
  std::conditional_t<kTransposed, NByK<SB>, KByN<SB>> b_view{b.data(), b_stride};
  const auto bias = random_values<float>(n);
  gemm<T, Isa>(m, n, k, Tile<const SA>{a.data(), shape.row_stride, shape.col_stride}, b_view,
               c.data(), c_stride, workspace, start,
               [&](auto sums, int64_t, int64_t col, int lanes) {
                 return sums + decltype(sums)::load(bias.data() + col, lanes);
               });
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < c_stride && i * c_stride + j < (m - 1) * c_stride + n; ++j) {
      const double old = widen<double>(before[static_cast<size_t>(i * c_stride + j)]);
      if (j >= n) {
        ASSERT_EQ(c[i * c_stride + j], old) << "wrote between the rows";
        continue;
      }
      double sum = start == Start::FromC ? old : 0;
      for (int64_t x = 0; x < k; ++x) {
        sum += a[i * shape.row_stride + x * shape.col_stride] *
               b[kTransposed ? j * b_stride + x : x * b_stride + j];
      }
      sum += static_cast<double>(bias[static_cast<size_t>(j)]);
      ASSERT_EQ(c[i * c_stride + j], widen<double>(convert<SC>(static_cast<T>(sum))))
          << m << "x" << n << "x" << k << " at " << i << "," << j;
    }
  }
}

template <class T, class SA, class SB, class SC>
void check_sizes() {
  for (const int64_t m : {1, 2, 3, 5, 7, 8, 14, 15, 28, 29, 33}) {
    for (const int64_t n : {1, 3, 16, 17, 31, 33, 64, 130}) {
      for (const int64_t k : {1, 2, 9, 16, 17, 33, 300}) {
        const int64_t gap = (m + n + k) % 2 ? 0 : 5;
        const Start start = (m + n + k) % 3 ? Start::Zero : Start::FromC;
        check_product<T, SA, SB, SC, false>(m, n, k, gap, (n + k) % 2 == 0, start);
        check_product<T, SA, SB, SC, true>(m, n, k, gap, (m + k) % 2 == 0, start);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(GemmTest, Float) { check_sizes<float, float, float, float>(); }
TEST(GemmTest, Double) { check_sizes<double, double, double, double>(); }
TEST(GemmTest, Half) { check_sizes<float, F16, F16, F16>(); }
TEST(GemmTest, BrainFloat) { check_sizes<float, Bf16, Bf16, Bf16>(); }
TEST(GemmTest, MixedTypes) { check_sizes<float, float, Bf16, float>(); }

// Beyond one block in every direction.
TEST(GemmTest, Large) {
  check_product<float, float, float, float, false>(300, 1100, 520, 0, false, Start::Zero);
  check_product<float, F16, F16, F16, false>(70, 1500, 700, 1, false, Start::Zero);
  check_product<float, float, F16, F16, false>(4, 2500, 1100, 0, false, Start::FromC);
  check_product<float, float, float, float, true>(1500, 40, 300, 0, false, Start::Zero);
}

/// Extents known at compile time choose other tiles.
template <int64_t kRows, int64_t kCols, int64_t kDepth>
void check_fixed() {
  GuardedBuffer<float> a(random_values<float>(kRows * kDepth)),
      b(random_values<float>(kDepth * kCols));
  GuardedBuffer<float> c(kRows * kCols), expected(kRows * kCols);
  Workspace workspace;
  const Tile<const float> a_view{a.data(), kDepth, 1};
  const KByN<float> b_view{b.data(), kCols};
  gemm<float, Isa>(kExtent<kRows>, kExtent<kCols>, kExtent<kDepth>, a_view, b_view, c.data(), kCols,
                   workspace);
  gemm<float, Isa>(kRows, kCols, kDepth, a_view, b_view, expected.data(), kCols, workspace);
  for (int64_t i = 0; i < kRows * kCols; ++i)
    ASSERT_EQ(c[i], expected[i]) << kRows << " rows, element " << i;
}

TEST(GemmTest, FixedExtents) {
  check_fixed<4, 48, 24>();
  check_fixed<7, 100, 70>();
  check_fixed<16, 1100, 700>();
  check_fixed<20, 48, 24>();
  check_fixed<28, 33, 40>();
  check_fixed<29, 64, 64>();
}

TEST(GemmTest, NothingToSum) {
  GuardedBuffer<float> c(std::vector<float>(6, 5.0f));
  Workspace workspace;
  gemm<float, Isa>(2, 3, 0, Tile<const float>{nullptr, 0, 1}, KByN<float>{nullptr, 3}, c.data(), 3,
                   workspace);
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(c[i], 0);
}

}  // namespace
}  // namespace mirage::cpu
