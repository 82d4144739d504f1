#include "interp/domain_f64.h"

namespace mirage::interp {
namespace {

// ln 2 in two parts; products of the first with integers below 2^31 are exact in long double.
constexpr long double kLn2High = 0x1.62e42fep-1L;
constexpr long double kLn2Low = 0x1.f473de6af278ece600fcbdabd03cp-30L;
constexpr int64_t kMaxExponent = int64_t{1} << 52;

WideF64 exp_of(long double x) {
  if (std::isnan(x)) return WideF64(static_cast<double>(x));
  if (x > 1e18L) return WideF64(std::numeric_limits<double>::infinity());
  if (x < -1e18L) return WideF64(0.0);
  const long double k = std::nearbyint(x / (512 * (kLn2High + kLn2Low)));
  const long double rest = (x - k * 512 * kLn2High) - k * 512 * kLn2Low;
  return WideF64(static_cast<double>(std::exp(rest)), static_cast<int64_t>(k));
}

long double log_of(const WideF64& x) {
  return std::log(static_cast<long double>(x.m)) +
         static_cast<long double>(x.e) * 512 * (kLn2High + kLn2Low);
}

}  // namespace

void WideF64::normalise_slowly(double size) {
  if (size == 0 || !std::isfinite(m)) {
    e = 0;
    return;
  }
  while (size < 0x1p-256) {
    m *= 0x1p512;
    size *= 0x1p512;
    --e;
  }
  while (size >= 0x1p256) {
    m *= 0x1p-512;
    size *= 0x1p-512;
    ++e;
  }
  if (e > kMaxExponent) {
    m = std::copysign(std::numeric_limits<double>::infinity(), m);
    e = 0;
  } else if (e < -kMaxExponent) {
    m = std::copysign(0.0, m);
    e = 0;
  }
}

double WideF64::to_double() const {
  if (e == 0) return m;
  // The true value is m * 2^(512 e); one ldexp rounds once.
  const int64_t shift = e > 4 ? 4 : e < -4 ? -4 : e;
  return std::ldexp(m, static_cast<int>(512 * shift));
}

WideF64 add(const WideF64& a, const WideF64& b) {
  const bool a_special = a.m == 0 || !std::isfinite(a.m);
  const bool b_special = b.m == 0 || !std::isfinite(b.m);
  if (a_special || b_special) {
    if (a.m == 0) return b;
    if (b.m == 0) return a;
    if (!a_special) return b;
    if (!b_special) return a;
    return WideF64(a.m + b.m);
  }
  const WideF64& large = a.e > b.e ? a : b;
  const WideF64& small = a.e > b.e ? b : a;
  if (large.e - small.e > 1) return large;  // below half a unit in the last place
  const double aligned = large.e == small.e ? small.m : small.m * 0x1p-512;
  return WideF64(large.m + aligned, large.e);
}

bool less(const WideF64& a, const WideF64& b) {
  if (a.e == b.e || a.m == 0 || b.m == 0 || !std::isfinite(a.m) || !std::isfinite(b.m))
    return a.m < b.m;
  if ((a.m < 0) != (b.m < 0)) return a.m < 0;
  return (a.e < b.e) == (a.m > 0);
}

WideF64 exp(const WideF64& x) {
  if (x.e < 0) return WideF64(1.0);
  if (x.e > 0) return WideF64(x.m > 0 ? std::numeric_limits<double>::infinity() : 0.0);
  if (std::fabs(x.m) < 170) return WideF64(std::exp(x.m));
  return exp_of(x.m);
}

WideF64 log(const WideF64& x) {
  if (x.e == 0) return WideF64(std::log(x.m));
  return WideF64(
      static_cast<double>(x.m < 0 ? std::numeric_limits<long double>::quiet_NaN() : log_of(x)));
}

WideF64 sqrt(const WideF64& x) {
  const int64_t half = x.e >> 1;  // floor
  return WideF64(std::sqrt(x.m) * ((x.e & 1) != 0 ? 0x1p256 : 1), half);
}

WideF64 pow(const WideF64& a, const WideF64& b) {
  const double plain = std::pow(a.to_double(), b.to_double());
  const bool is_ordinary = std::isfinite(a.m) && std::isfinite(b.m) && a.m != 0 && b.m != 0;
  if (!is_ordinary || (a.e == 0 && b.e == 0 && std::isfinite(plain) && plain != 0 &&
                       std::fabs(plain) >= std::numeric_limits<double>::min()))
    return WideF64(plain);
  const double exponent = b.to_double();
  if (a.m < 0 && exponent != std::nearbyint(exponent))
    return WideF64(std::numeric_limits<double>::quiet_NaN());
  WideF64 size = a;
  size.m = std::fabs(size.m);
  WideF64 result = exp_of(static_cast<long double>(exponent) * log_of(size));
  if (a.m < 0 && std::fmod(exponent, 2.0) != 0) result.m = -result.m;
  return result;
}

WideF64 WideDomain::dot(const Value* a, int64_t step_a, const Value* b, int64_t step_b, int64_t n) {
  // Mantissas are below 2^256, so plain sums of products stay finite.
  double sum = 0;
  int64_t exponents = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Value& x = a[i * step_a];
    const Value& y = b[i * step_b];
    exponents |= x.e | y.e;
    sum += x.m * y.m;
  }
  if (exponents == 0) return Value(sum);
  Value wide;
  for (int64_t i = 0; i < n; ++i) wide = add(wide, mul(a[i * step_a], b[i * step_b]));
  return wide;
}

}  // namespace mirage::interp
