#include "interp/domain_f64.h"

#include <gtest/gtest.h>

#include "util/rng.h"

namespace mirage::interp {
namespace {

const double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(WideF64, AgreesWithDoubleWhereDoubleDoesNotOverflow) {
  Rng rng(1);
  WideDomain d;
  for (int i = 0; i < 10000; ++i) {
    const double a = std::ldexp(rng.normal(), static_cast<int>(rng.below(600)) - 300);
    const double b = std::ldexp(rng.normal(), static_cast<int>(rng.below(600)) - 300);
    EXPECT_EQ(d.add(WideF64(a), WideF64(b)).to_double(), a + b);
    EXPECT_EQ(d.mul(WideF64(a), WideF64(b)).to_double(), a * b);
    EXPECT_EQ(d.div(WideF64(a), WideF64(b)).to_double(), a / b);
    EXPECT_EQ(less(WideF64(a), WideF64(b)), a < b);
    EXPECT_EQ(sqrt(WideF64(std::fabs(a))).to_double(), std::sqrt(std::fabs(a)));
  }
}

TEST(WideF64, ExpNeverOverflowsInside) {
  WideDomain d;
  for (double x : {1e4, 7e5, -3e4, 123456.789, -745.0, 709.9, 1e9}) {
    const WideF64 e = exp(WideF64(x));
    EXPECT_TRUE(std::isfinite(e.m) && e.m != 0) << x;
    EXPECT_NEAR(log(e).to_double(), x, 1e-14 * std::fabs(x)) << x;
    // exp(x) / exp(x - 1) = e, with the rounding of x - 1.
    EXPECT_NEAR(d.div(e, exp(WideF64(x - 1))).to_double(), std::exp(1), 1e-6) << x;
  }
  EXPECT_EQ(exp(WideF64(1e4)).to_double(), kInf);
  EXPECT_EQ(exp(WideF64(-1e4)).to_double(), 0);
  EXPECT_EQ(exp(WideF64(1.0)).to_double(), std::exp(1.0));
}

TEST(WideF64, ExpAndLogAreThoseOfTheLibraryWhereBothExist) {
  for (double x = -700; x < 709; x += 0.37) {
    EXPECT_NEAR(exp(WideF64(x)).to_double() / std::exp(x), 1, 4e-16) << x;
    EXPECT_NEAR(log(exp(WideF64(x))).to_double(), x, 3e-16 * std::max(1.0, std::fabs(x))) << x;
  }
  EXPECT_EQ(log(WideF64(1, 3)).to_double(), 1536 * std::log(2.0));
  EXPECT_EQ(log(WideF64(1, -30)).to_double(), -15360 * std::log(2.0));
}

TEST(WideF64, SpecialValues) {
  WideDomain d;
  EXPECT_EQ(exp(WideF64(kInf)).to_double(), kInf);
  EXPECT_EQ(exp(WideF64(-kInf)).to_double(), 0);
  EXPECT_TRUE(exp(WideF64(kNaN)).is_nan());
  EXPECT_TRUE(d.sub(WideF64(kInf), WideF64(kInf)).is_nan());
  EXPECT_TRUE(d.mul(WideF64(0.0), WideF64(kInf)).is_nan());
  EXPECT_EQ(d.add(exp(WideF64(1e5)), WideF64(-kInf)).to_double(), -kInf);
  EXPECT_EQ(d.div(WideF64(1.0), WideF64(0.0)).to_double(), kInf);
  EXPECT_TRUE(d.div(WideF64(0.0), WideF64(0.0)).is_nan());
  EXPECT_TRUE(d.maximum(WideF64(kNaN), WideF64(1.0)).is_nan());
  EXPECT_TRUE(d.maximum(WideF64(1.0), WideF64(kNaN)).is_nan());
  EXPECT_TRUE(sqrt(WideF64(-1.0)).is_nan());
  EXPECT_TRUE(std::signbit(WideF64(-0.0).to_double()));
  EXPECT_EQ(d.gauge(WideF64(-kInf)).to_double(), 0);
  EXPECT_EQ(WideF64(0x1p-1074).to_double(), 0x1p-1074);
  EXPECT_EQ(d.mul(WideF64(0x1p-1074), WideF64(0x1p1000)).to_double(), 0x1p-74);
}

TEST(WideF64, OrderAcrossExponents) {
  const WideF64 huge = exp(WideF64(1e6)), tiny = exp(WideF64(-1e6));
  WideF64 minus_huge = huge;
  minus_huge.m = -minus_huge.m;
  EXPECT_TRUE(less(tiny, huge));
  EXPECT_TRUE(less(minus_huge, tiny));
  EXPECT_TRUE(less(WideF64(0.0), tiny));
  EXPECT_TRUE(less(minus_huge, WideF64(-1.0)));
  EXPECT_FALSE(less(huge, WideF64(kNaN)));
  EXPECT_TRUE(less(huge, WideF64(kInf)));
}

TEST(WideF64, PowBeyondDouble) {
  EXPECT_EQ(pow(WideF64(2.0), WideF64(10.0)).to_double(), 1024);
  EXPECT_NEAR(log(pow(WideF64(10.0), WideF64(1000.0))).to_double(), 1000 * std::log(10.0), 1e-10);
  EXPECT_LT(pow(WideF64(-10.0), WideF64(401.0)).m, 0);
  EXPECT_EQ(pow(WideF64(0.0), WideF64(0.0)).to_double(), 1);
  EXPECT_TRUE(pow(WideF64(-2.0), WideF64(0.5)).is_nan());
}

}  // namespace
}  // namespace mirage::interp
