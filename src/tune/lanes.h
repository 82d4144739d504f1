#pragma once
// The scalar domain of sampled errors: a value and copies of it, each with errors of its own.

#include <array>
#include <cmath>
#include <limits>

#include "ir/ops/bodies.h"

namespace mirage::tune {

constexpr size_t kSamples = 8;

/// Lane 0 is exact. NaN in the others: no claim.
using Lanes = std::array<double, kSamples + 1>;

/// Standard deviation of the samples about the exact value.
inline double spread(const Lanes& x) {
  double sum = 0;
  for (size_t i = 1; i < x.size(); ++i) sum += (x[i] - x[0]) * (x[i] - x[0]);
  return std::sqrt(sum / kSamples);
}

inline void disclaim(Lanes& x) {
  for (size_t i = 1; i < x.size(); ++i) x[i] = std::numeric_limits<double>::quiet_NaN();
}

/// Implements the Map bodies of the op table. `sigmas`: where an argument may be zero within so
/// many standard deviations, functions with a pole or a branch there claim nothing.
class LanesDomain {
 public:
  using Value = Lanes;
  explicit LanesDomain(double sigmas) : sigmas_(sigmas) {}

  Value constant(double x) {
    Lanes lanes;
    lanes.fill(x);
    return lanes;
  }
  Value add(const Value& a, const Value& b) {
    return each(a, b, [](double x, double y) { return x + y; });
  }
  Value sub(const Value& a, const Value& b) {
    return each(a, b, [](double x, double y) { return x - y; });
  }
  Value mul(const Value& a, const Value& b) {
    return each(a, b, [](double x, double y) { return x * y; });
  }
  Value div(const Value& a, const Value& b) {
    return unless_zero(b, each(a, b, [](double x, double y) { return x / y; }));
  }
  Value neg(const Value& a) {
    return each(a, a, [](double x, double) { return -x; });
  }
  Value maximum(const Value& a, const Value& b) {
    return each(a, b, [](double x, double y) { return std::isnan(x) || x > y ? x : y; });
  }
  Value minimum(const Value& a, const Value& b) {
    return each(a, b, [](double x, double y) { return std::isnan(x) || x < y ? x : y; });
  }
  Value pow(const Value& a, const Value& b) {
    return unless_zero(a, each(a, b, [](double x, double y) { return std::pow(x, y); }));
  }
  Value apply(ir::Fn fn, const Value& x) {
    switch (fn) {
      case ir::Fn::Exp:
        return each(x, x, [](double v, double) { return std::exp(v); });
      case ir::Fn::Log:
        return unless_zero(x, each(x, x, [](double v, double) { return std::log(v); }));
      case ir::Fn::Sqrt:
        return unless_zero(x, each(x, x, [](double v, double) { return std::sqrt(v); }));
      case ir::Fn::Erf:
        return each(x, x, [](double v, double) { return std::erf(v); });
    }
    return constant(std::numeric_limits<double>::quiet_NaN());
  }

 private:
  template <class F>
  static Lanes each(const Lanes& a, const Lanes& b, F&& f) {
    Lanes out;
    for (size_t i = 0; i < out.size(); ++i) out[i] = f(a[i], b[i]);
    return out;
  }
  Lanes unless_zero(const Lanes& argument, Lanes result) const {
    const double deviation = spread(argument);
    if (deviation > 0 && !(sigmas_ * deviation < std::fabs(argument[0]))) disclaim(result);
    return result;
  }

  double sigmas_;
};

}  // namespace mirage::tune
