#pragma once
// Static facts about values, over the same evaluator: degrees of numerator and denominator (for the
// error bound), and signs (for domain obligations).

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

/// What the form of an expression says about its sign over the reals, wherever it is defined.
enum class Sign : uint8_t { Positive, NonNegative, Any };

/// A value: its sign and a number that tells equal values of this domain apart only by identity (so
/// that x * x is seen as a square).
class SignDomain {
 public:
  struct Value {
    Sign sign = Sign::Any;
    uint64_t id = 0;
  };

  /// Signs of denominators, radicands, and arguments of logarithms and bases of powers, in order of
  /// the calls.
  const std::vector<Sign>& denominators() const { return denominators_; }
  const std::vector<Sign>& radicands() const { return radicands_; }
  const std::vector<Sign>& partials() const { return partials_; }

  Value fresh(Sign sign = Sign::Any) { return {sign, ++next_}; }
  Value constant(double value) {
    return fresh(value > 0 ? Sign::Positive : value == 0 ? Sign::NonNegative : Sign::Any);
  }
  Value count(int64_t n) { return fresh(n > 0 ? Sign::Positive : Sign::NonNegative); }
  Value zero() { return fresh(Sign::NonNegative); }
  Value lowest() { return fresh(); }
  Value fresh_gauge() { return fresh(); }
  Value neg(const Value&) { return fresh(); }
  Value sub(const Value&, const Value&) { return fresh(); }
  Value add(const Value& a, const Value& b) {
    if (a.sign == Sign::Any || b.sign == Sign::Any) return fresh();
    return fresh(std::min(a.sign, b.sign));
  }
  Value mul(const Value& a, const Value& b) {
    if (a.id == b.id) return fresh(a.sign == Sign::Positive ? Sign::Positive : Sign::NonNegative);
    return fresh(std::max(a.sign, b.sign));
  }
  Value div(const Value& a, const Value& b) {
    denominators_.push_back(b.sign);
    // Where the quotient is defined, a non-negative denominator is positive. That it does not
    // vanish is an obligation of its own.
    return fresh(b.sign != Sign::Any ? a.sign : Sign::Any);
  }
  Value maximum(const Value& a, const Value& b) { return fresh(std::min(a.sign, b.sign)); }
  Value minimum(const Value& a, const Value& b) { return fresh(std::max(a.sign, b.sign)); }
  Value pow(const Value& a, const Value&) {
    partials_.push_back(a.sign);
    return fresh(a.sign == Sign::Positive ? Sign::Positive : Sign::Any);
  }
  Value apply(ir::Fn fn, const Value& x) {
    if (fn == ir::Fn::Exp) return fresh(Sign::Positive);
    if (fn == ir::Fn::Sqrt) {
      radicands_.push_back(x.sign);
      return fresh(x.sign == Sign::Positive ? x.sign : Sign::NonNegative);  // where it is defined
    }
    if (fn == ir::Fn::Log) partials_.push_back(x.sign);
    return fresh();
  }
  Value dot(const Value* a, int64_t step_a, const Value* b, int64_t step_b, int64_t n) {
    if (n == 0) return zero();
    Value sum = mul(a[0], b[0]);
    for (int64_t i = 1; i < n; ++i) sum = add(sum, mul(a[i * step_a], b[i * step_b]));
    return sum;
  }

 private:
  uint64_t next_ = 0;
  std::vector<Sign> denominators_, radicands_, partials_;
};

}  // namespace mirage::verify
