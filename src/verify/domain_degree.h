#pragma once
// Degrees of numerators and denominators, for the error bound, over the same evaluator as values.

#include <algorithm>

#include "ir/ops/bodies.h"

namespace mirage::verify {

struct Degree {
  double top = 0, bottom = 0;
};

/// exp, roots and opaque functions count as variables of degree 1.
class DegreeDomain {
 public:
  using Value = Degree;
  static Value variable() { return {1, 0}; }
  double largest_exponent() const { return largest_exponent_; }

  static Value constant(double) { return {}; }
  static Value count(int64_t) { return {}; }
  static Value zero() { return {}; }
  static Value lowest() { return {}; }
  static Value fresh_gauge() { return variable(); }
  static Value neg(const Value& a) { return a; }
  static Value add(const Value& a, const Value& b) {
    return {std::max(a.top + b.bottom, b.top + a.bottom), a.bottom + b.bottom};
  }
  static Value sub(const Value& a, const Value& b) { return add(a, b); }
  static Value mul(const Value& a, const Value& b) { return {a.top + b.top, a.bottom + b.bottom}; }
  static Value div(const Value& a, const Value& b) { return {a.top + b.bottom, a.bottom + b.top}; }
  static Value maximum(const Value&, const Value&) { return variable(); }
  static Value minimum(const Value&, const Value&) { return variable(); }
  static Value pow(const Value& a, const Value&) {
    return {8 * (a.top + a.bottom) + 1, 8 * (a.top + a.bottom)};
  }
  Value apply(ir::Fn fn, const Value& x) {
    if (fn == ir::Fn::Exp) largest_exponent_ = std::max(largest_exponent_, x.top + x.bottom);
    if (fn == ir::Fn::Sqrt) return {1 + x.top, x.bottom};
    return variable();
  }
  static Value dot(const Value* a, int64_t step_a, const Value* b, int64_t step_b, int64_t n) {
    Value sum = n > 0 ? mul(a[0], b[0]) : Value{};
    for (int64_t i = 1; i < n; ++i) sum = add(sum, mul(a[i * step_a], b[i * step_b]));
    return sum;
  }

 private:
  double largest_exponent_ = 0;
};

}  // namespace mirage::verify
