#pragma once
// The float64 domains. WideF64 numbers are m * 2^(512 e) with |m| in [2^-256, 2^256), or zero,
// infinite or NaN with e = 0: ordinary doubles are themselves, and nothing overflows or underflows
// before e leaves 52 bits. Rounding is that of double.

#include <cmath>
#include <cstdint>
#include <limits>

#include "ir/ops/bodies.h"

namespace mirage::interp {

struct WideF64 {
  double m = 0;
  int64_t e = 0;

  WideF64() = default;
  /// Exact.
  explicit WideF64(double value) : m(value) { normalise(); }
  WideF64(double mantissa, int64_t exponent) : m(mantissa), e(exponent) { normalise(); }

  /// Rounded; beyond the range of double, infinite or zero with the right sign.
  double to_double() const;
  bool is_nan() const { return std::isnan(m); }

 private:
  void normalise() {
    const double size = std::fabs(m);
    if (size >= 0x1p-256 && size < 0x1p256 && e == 0) return;
    normalise_slowly(size);
  }
  void normalise_slowly(double size);
};

WideF64 add(const WideF64& a, const WideF64& b);
WideF64 exp(const WideF64& x);
WideF64 log(const WideF64& x);
WideF64 sqrt(const WideF64& x);
WideF64 pow(const WideF64& a, const WideF64& b);
/// False if either is NaN.
bool less(const WideF64& a, const WideF64& b);

/// The domain over WideF64.
struct WideDomain {
  using Value = WideF64;

  static Value constant(double value) { return Value(value); }
  static Value count(int64_t n) { return Value(static_cast<double>(n)); }
  static Value zero() { return Value(); }
  static Value lowest() { return Value(-std::numeric_limits<double>::infinity()); }
  static Value add(const Value& a, const Value& b) {
    return a.e == b.e ? Value(a.m + b.m, a.e) : interp::add(a, b);
  }
  static Value neg(Value a) {
    a.m = -a.m;
    return a;
  }
  static Value sub(const Value& a, const Value& b) { return add(a, neg(b)); }
  static Value mul(const Value& a, const Value& b) { return Value(a.m * b.m, a.e + b.e); }
  static Value div(const Value& a, const Value& b) { return Value(a.m / b.m, a.e - b.e); }
  static Value maximum(const Value& a, const Value& b) {
    return a.is_nan() ? a : b.is_nan() ? b : less(a, b) ? b : a;
  }
  static Value minimum(const Value& a, const Value& b) {
    return a.is_nan() ? a : b.is_nan() ? b : less(b, a) ? b : a;
  }
  static Value pow(const Value& a, const Value& b) { return interp::pow(a, b); }
  static Value apply(ir::Fn fn, const Value& x) {
    switch (fn) {
      case ir::Fn::Exp:
        return interp::exp(x);
      case ir::Fn::Log:
        return interp::log(x);
      case ir::Fn::Sqrt:
        return interp::sqrt(x);
      case ir::Fn::Erf:
        return Value(std::erf(x.to_double()));
    }
    return x;
  }
  /// A softmax shift: the maximum, or 0 where it is infinite (rows without admitted keys).
  static Value gauge(const Value& maximum) { return std::isinf(maximum.m) ? Value() : maximum; }
  static Value dot(const Value* a, int64_t step_a, const Value* b, int64_t step_b, int64_t n);
};

/// Plain double: overflows like the machine.
struct F64Domain {
  using Value = double;

  static double constant(double value) { return value; }
  static double count(int64_t n) { return static_cast<double>(n); }
  static double zero() { return 0; }
  static double lowest() { return -std::numeric_limits<double>::infinity(); }
  static double add(double a, double b) { return a + b; }
  static double neg(double a) { return -a; }
  static double sub(double a, double b) { return a - b; }
  static double mul(double a, double b) { return a * b; }
  static double div(double a, double b) { return a / b; }
  static double maximum(double a, double b) {
    return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? b : a;
  }
  static double minimum(double a, double b) {
    return std::isnan(a) ? a : std::isnan(b) ? b : b < a ? b : a;
  }
  static double pow(double a, double b) { return std::pow(a, b); }
  static double apply(ir::Fn fn, double x) {
    switch (fn) {
      case ir::Fn::Exp:
        return std::exp(x);
      case ir::Fn::Log:
        return std::log(x);
      case ir::Fn::Sqrt:
        return std::sqrt(x);
      case ir::Fn::Erf:
        return std::erf(x);
    }
    return x;
  }
  static double gauge(double maximum) { return std::isinf(maximum) ? 0 : maximum; }
  static double dot(const double* a, int64_t step_a, const double* b, int64_t step_b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += a[i * step_a] * b[i * step_b];
    return sum;
  }
};

}  // namespace mirage::interp
