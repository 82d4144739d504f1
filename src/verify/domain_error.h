#pragma once
// Running error analysis in double: each value carries a bound on its absolute error.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/ops/bodies.h"

namespace mirage::verify {

struct Bounded {
  double value = 0;
  double error = 0;
};

struct ErrorDomain {
  using Value = Bounded;
  static constexpr double kUnit = 0x1p-52;  // twice the unit roundoff: covers functions of libm

  /// A root or logarithm of a number that is negative beyond its error was taken.
  bool surely_undefined = false;

  static Value rounded(double value, double error) {
    return {value, error + kUnit * std::fabs(value) + 0x1p-1074};
  }
  static Value constant(double value) { return {value, 0}; }
  static Value count(int64_t n) { return {static_cast<double>(n), 0}; }
  static Value zero() { return {}; }
  static Value lowest() { return {-std::numeric_limits<double>::infinity(), 0}; }
  static Value gauge(const Value& maximum) { return std::isinf(maximum.value) ? Value{} : maximum; }
  static Value neg(const Value& a) { return {-a.value, a.error}; }
  static Value add(const Value& a, const Value& b) {
    return rounded(a.value + b.value, a.error + b.error);
  }
  static Value sub(const Value& a, const Value& b) { return add(a, neg(b)); }
  static Value mul(const Value& a, const Value& b) {
    return rounded(a.value * b.value,
                   std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error);
  }
  static Value div(const Value& a, const Value& b) {
    const double quotient = a.value / b.value;
    const double room = std::fabs(b.value) - b.error;
    if (!(room > 0)) return {quotient, std::numeric_limits<double>::infinity()};
    return rounded(quotient, (a.error + std::fabs(quotient) * b.error) / room);
  }
  static Value maximum(const Value& a, const Value& b) {
    if (std::isnan(a.value)) return a;
    if (std::isnan(b.value)) return b;
    return {std::max(a.value, b.value), std::max(a.error, b.error)};
  }
  static Value minimum(const Value& a, const Value& b) { return neg(maximum(neg(a), neg(b))); }
  static Value pow(const Value& a, const Value& b) {
    const double result = std::pow(a.value, b.value);
    const double low = std::fabs(a.value) - a.error;
    if (!(low > 0))
      return {result, a.error == 0 && b.error == 0 ? kUnit * std::fabs(result)
                                                   : std::numeric_limits<double>::infinity()};
    const double relative = std::fabs(b.value) * a.error / low +
                            (std::fabs(std::log(std::fabs(a.value))) + a.error / low) * b.error;
    return rounded(result, std::fabs(result) * std::expm1(relative));
  }
  Value apply(ir::Fn fn, const Value& x) {
    switch (fn) {
      case ir::Fn::Exp: {
        const double result = std::exp(x.value);
        return rounded(result, result * std::expm1(x.error));
      }
      case ir::Fn::Log: {
        const double room = x.value - x.error;
        if (x.value + x.error < 0) surely_undefined = true;
        return rounded(std::log(x.value),
                       room > 0 ? x.error / room : std::numeric_limits<double>::infinity());
      }
      case ir::Fn::Sqrt: {
        if (x.value + x.error < 0) surely_undefined = true;
        if (x.value < 0 && x.value + x.error >= 0) return {0, std::sqrt(x.error - x.value)};
        const double result = std::sqrt(x.value);
        return rounded(result, result > 0 ? x.error / result : std::sqrt(x.error));
      }
      case ir::Fn::Erf:
        return rounded(std::erf(x.value), 1.2 * x.error);
    }
    return x;
  }
  static Value dot(const Value* a, int64_t step_a, const Value* b, int64_t step_b, int64_t n) {
    Value sum;
    for (int64_t i = 0; i < n; ++i) sum = add(sum, mul(a[i * step_a], b[i * step_b]));
    return sum;
  }
};

}  // namespace mirage::verify
