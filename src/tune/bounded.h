#pragma once
// The scalar domain of the forward-error test (papers 2.8, V3): a float64 value, its magnitude and
// a bound of the error that computing it in lower precision may leave, associated in any of the
// usual ways. The magnitude is the same expression with subtractions turned into additions: a
// kernel that multiplies out, or subtracts later, rounds numbers as large as that.

#include <cmath>
#include <limits>

#include "ir/ops/bodies.h"

namespace mirage::tune {

struct Bounded {
  double value = 0;
  double magnitude = 0;  // at least |value|
  double error = 0;      // infinite: no claim
};

/// Implements the Map bodies of the op table. `unit` is the relative error of one operation.
class BoundedDomain {
 public:
  using Value = Bounded;
  explicit BoundedDomain(double unit) : unit_(unit) {}

  Value constant(double x) { return {x, std::fabs(x), 0}; }
  Value add(Value a, Value b) {
    return rounded(a.value + b.value, a.magnitude + b.magnitude, a.error + b.error);
  }
  Value sub(Value a, Value b) {
    return rounded(a.value - b.value, a.magnitude + b.magnitude, a.error + b.error);
  }
  Value mul(Value a, Value b) {
    return rounded(a.value * b.value, a.magnitude * b.magnitude,
                   a.error * b.magnitude + b.error * (a.magnitude + a.error));
  }
  Value div(Value a, Value b) {
    const double size = std::fabs(b.value);
    const double least = size - b.error;  // of the denominator that was computed
    const double magnitude = a.magnitude / size * std::fmax(b.magnitude / size, 1);
    const double error = (a.error + a.magnitude / size * b.error) / least;
    return rounded(a.value / b.value, magnitude, least > 0 ? error : kNone);
  }
  Value neg(Value a) { return {-a.value, a.magnitude, a.error}; }
  Value maximum(Value a, Value b) {
    const double value = std::isnan(a.value) || a.value > b.value ? a.value : b.value;
    return {value, std::fmax(a.magnitude, b.magnitude), std::fmax(a.error, b.error)};
  }
  Value minimum(Value a, Value b) {
    const double value = std::isnan(a.value) || a.value < b.value ? a.value : b.value;
    return {value, std::fmax(a.magnitude, b.magnitude), std::fmax(a.error, b.error)};
  }
  Value pow(Value a, Value b) {
    const double value = std::pow(a.value, b.value), size = std::fabs(value);
    if (a.value == 0) return rounded(value, size, a.error == 0 && b.error == 0 ? 0 : kNone);
    const double log_base = std::fabs(std::log(std::fabs(a.value)));
    const double of_base = std::fabs(b.value) * a.error / std::fabs(a.value);
    // exp(b log a) rounds its argument.
    const double of_exponent = log_base * (b.error + unit_ * std::fabs(b.value));
    return rounded(value, size, size * std::expm1(of_base + of_exponent));
  }

  /// Never steep, which its parts do not show: an error that doubles exp(-x) bounds nothing.
  Value sigmoid(Value x) {
    const double value = logistic(x.value);
    // s(b) - s(a) = s(b) (1 - s(a)) (1 - exp(a - b)), the larger one of up and down.
    const double up = logistic(x.value + x.error) * logistic(-x.value);
    const double down = value * logistic(x.error - x.value);
    const double change = std::isinf(x.error) ? kNone : std::fmax(up, down) * -std::expm1(-x.error);
    // Where exp(-x) overflows, the sigmoid that is computed is 0.
    const double top = unit_ > std::numeric_limits<double>::epsilon()
                           ? std::numeric_limits<float>::max()
                           : std::numeric_limits<double>::max();
    const double lost = value * top < 2 ? value : 0;
    return rounded(value, value, change + lost + kSigmoidRoundings * unit_ * value);
  }
  /// Both factors are functions of one number, so its size counts and not its magnitude.
  Value silu(Value x) {
    const Value s = sigmoid(x);
    return rounded(x.value * s.value, x.magnitude * s.value,
                   x.error * (s.value + s.error) + std::fabs(x.value) * s.error);
  }

  /// The largest change of f over the error of its argument, not its derivative.
  Value apply(ir::Fn fn, Value x) {
    switch (fn) {
      case ir::Fn::Exp: {
        const double value = std::exp(x.value);
        return rounded(value, value,
                       value == 0 ? std::exp(x.value + x.error) : value * std::expm1(x.error));
      }
      case ir::Fn::Log: {
        const double value = std::log(x.value);
        return rounded(value, std::fabs(value) + 1,
                       x.value > x.error ? -std::log1p(-x.error / x.value) : kNone);
      }
      case ir::Fn::Sqrt: {
        const double value = std::sqrt(x.value);
        if (x.value == 0) return {0, 0, std::sqrt(x.error)};
        return rounded(value, value * std::fmax(x.magnitude / x.value, 1),
                       x.value >= x.error ? value * (1 - std::sqrt(1 - x.error / x.value)) : kNone);
      }
      case ir::Fn::Erf: {
        const double value = std::erf(x.value);
        return rounded(value, std::fabs(value), std::fmin(1.1284 * x.error, 2));
      }
    }
    return {std::numeric_limits<double>::quiet_NaN(), kNone, kNone};
  }

 private:
  static double logistic(double x) { return 1 / (1 + std::exp(-x)); }

  static constexpr double kSigmoidRoundings = 3;  // exp, the sum, the quotient
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  Value rounded(double value, double magnitude, double error) const {
    return {value, magnitude, error + unit_ * magnitude};
  }
  double unit_;
};

}  // namespace mirage::tune
