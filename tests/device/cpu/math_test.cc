#include "mirage/cpu/math.h"

#include "device/cpu/support.h"
#include "mirage/cpu/pow.h"

namespace mirage::cpu {
namespace {

template <class T>
constexpr T kInf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

struct Worst {
  double ulp = 0;
  long double at = 0;
};

/// Largest error of f over arguments of every exponent and over the range where f is interesting.
template <class T, class F>
Worst worst_error(F f, long double (*exact)(long double), int count = 200'000) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr int kLanes = V<T>::kLanes;
  const T tiny = std::numeric_limits<T>::denorm_min(), normal = std::numeric_limits<T>::min();
  std::vector<T> in = {T{0},
                       -T{0},
                       kInf<T>,
                       -kInf<T>,
                       kNan<T>,
                       tiny,
                       -tiny,
                       normal,
                       -normal,
                       1,
                       -1,
                       std::numeric_limits<T>::max(),
                       std::numeric_limits<T>::lowest()};
  std::uniform_real_distribution<double> unit(-1, 1);
  const Bits step = ~Bits{0} / static_cast<Bits>(count) | 1;
  Bits bits = 0;
  for (int i = 0; i < count; ++i, bits += step) {
    in.push_back(std::bit_cast<T>(bits));
    const double width = i % 3 == 0 ? 1.5 : i % 3 == 1 ? 20 : sizeof(T) == 4 ? 110 : 760;
    in.push_back(static_cast<T>(unit(generator()) * width));
  }
  in.resize((in.size() + kLanes - 1) / kLanes * kLanes);
  Worst worst;
  T out[kLanes];
  for (size_t i = 0; i < in.size(); i += kLanes) {
    f(V<T>::load(&in[i])).store(out);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double ulp = ulp_error(out[lane], exact(in[i + lane]));
      if (ulp > worst.ulp) worst = {ulp, in[i + lane]};
    }
  }
  return worst;
}

long double exact_sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
long double exact_silu(long double x) { return x / (1 + std::exp(-x)); }
long double exact_gelu(long double x) {
  return x * std::erfc(-x * 0.707106781186547524400844362104849L) / 2;
}
long double exact_rsqrt(long double x) { return 1 / std::sqrt(x); }
long double exact_reciprocal(long double x) { return 1 / x; }

#define MIRAGE_MATH_TEST(name, function, exact, float_ulp, double_ulp)                       \
  TEST(MathTest, name) {                                                                     \
    const Worst narrow = worst_error<float>([](auto x) { return function(x); }, exact);      \
    const Worst wide = worst_error<double>([](auto x) { return function(x); }, exact);       \
    std::printf("%-10s float %.2f ulp, double %.2f ulp\n", #function, narrow.ulp, wide.ulp); \
    EXPECT_LE(narrow.ulp, float_ulp) << "at " << narrow.at;                                  \
    EXPECT_LE(wide.ulp, double_ulp) << "at " << wide.at;                                     \
  }

MIRAGE_MATH_TEST(Exp, exp, std::exp, 1.2, 1.2)
MIRAGE_MATH_TEST(Log, log, std::log, 1.0, 1.0)
MIRAGE_MATH_TEST(Tanh, tanh, std::tanh, 1.5, 1.5)
MIRAGE_MATH_TEST(Sigmoid, sigmoid, exact_sigmoid, 2.5, 2.5)
MIRAGE_MATH_TEST(Silu, silu, exact_silu, 3.5, 3.5)
MIRAGE_MATH_TEST(Erf, erf, std::erf, 1.5, 1.5)
MIRAGE_MATH_TEST(Gelu, gelu, exact_gelu, 5.0, 5.0)
MIRAGE_MATH_TEST(Rsqrt, rsqrt, exact_rsqrt, 1.5, 1.5)
MIRAGE_MATH_TEST(Sqrt, sqrt, std::sqrt, 0.5001, 0.5001)
MIRAGE_MATH_TEST(Reciprocal, reciprocal, exact_reciprocal, 0.5001, 0.5001)

/// Every pair of exponents and signs, mixed within a vector or the same in all its lanes.
template <class T>
double worst_quotient(bool is_mixed, int count = 100'000) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr int kLanes = V<T>::kLanes;
  const T special[] = {T{0},
                       -T{0},
                       kInf<T>,
                       -kInf<T>,
                       kNan<T>,
                       std::numeric_limits<T>::denorm_min(),
                       std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::max(),
                       1,
                       -1};
  std::uniform_int_distribution<Bits> any;
  std::uniform_real_distribution<double> moderate(-4, 4);
  std::uniform_int_distribution<size_t> pick(0, std::size(special) - 1);
  const auto draw = [&](int kind) {
    return kind == 0   ? std::bit_cast<T>(any(generator()))
           : kind == 1 ? special[pick(generator())]
                       : static_cast<T>(std::exp(moderate(generator()) * 12));
  };
  double worst = 0;
  T a[kLanes], b[kLanes], out[kLanes];
  for (int i = 0; i < count; ++i) {
    const int kind = i % 5;
    for (int lane = 0; lane < kLanes; ++lane) {
      a[lane] = is_mixed || lane == 0 ? draw(is_mixed ? lane % 3 : kind) : a[0];
      b[lane] = is_mixed || lane == 0 ? draw(is_mixed ? (lane + i) % 3 : kind) : b[0];
    }
    (V<T>::load(a) / V<T>::load(b)).store(out);
    for (int lane = 0; lane < kLanes; ++lane)
      worst = std::max(worst, ulp_error(out[lane], static_cast<long double>(a[lane]) / b[lane]));
  }
  return worst;
}

TEST(MathTest, QuotientsAreRoundedToNearest) {
  for (bool is_mixed : {false, true}) {
    EXPECT_LE(worst_quotient<float>(is_mixed), 0.5001) << is_mixed;
    EXPECT_LE(worst_quotient<double>(is_mixed), 0.5001) << is_mixed;
  }
}

TEST(MathTest, QuotientsKeepTheSignOfZero) {
  for (float a : {0.0f, -0.0f})
    for (float b : {3.0f, -3.0f}) {
      float out[V<float>::kLanes];
      (V<float>(a) / V<float>(b)).store(out);
      EXPECT_EQ(std::signbit(out[0]), std::signbit(a / b)) << a << " / " << b;
    }
}

template <class T>
void check_pow(double bound) {
  std::uniform_real_distribution<double> unit(-1, 1);
  Worst worst;
  for (int i = 0; i < 200'000; ++i) {
    const T x = static_cast<T>(std::exp(unit(generator()) * (i % 2 ? 0.01 : 80)));
    const T y = static_cast<T>(unit(generator()) *
                               (i % 4 < 2 ? 3 : 1 / (1e-4 + std::fabs(std::log(x)) / 700)));
    const double ulp = ulp_error(pow(V<T>(x), V<T>(y))[0], std::pow(static_cast<long double>(x),
                                                                    static_cast<long double>(y)));
    if (ulp > worst.ulp) worst = {ulp, x};
  }
  std::printf("pow        %zu bytes %.2f ulp\n", sizeof(T), worst.ulp);
  EXPECT_LE(worst.ulp, bound) << "at " << worst.at;

  const T values[] = {0,
                      -T{0},
                      1,
                      -1,
                      2,
                      -2,
                      3,
                      -3,
                      T(0.5),
                      T(-0.5),
                      T(2.5),
                      kInf<T>,
                      -kInf<T>,
                      kNan<T>,
                      T(1e30),
                      T(-1e30),
                      std::numeric_limits<T>::denorm_min(),
                      std::numeric_limits<T>::max()};
  for (const T x : values) {
    for (const T y : values) {
      const T got = pow(V<T>(x), V<T>(y))[0], expected = std::pow(x, y);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got)) << x << " " << y;
      } else {
        EXPECT_LE(ulp_error<T>(got, expected), 2) << x << " " << y << " " << got << " " << expected;
      }
    }
  }
}

TEST(MathTest, PowFloat) { check_pow<float>(0.6); }
TEST(MathTest, PowDouble) { check_pow<double>(1.6); }

}  // namespace
}  // namespace mirage::cpu
