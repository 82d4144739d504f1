#pragma once
// What the form of a value says about its sign, over the same evaluator as values: for domain
// obligations, and for values that are held to be squares.

#include <algorithm>
#include <vector>

#include "ir/ops/bodies.h"

namespace mirage::verify {

/// What the form of an expression says about its sign over the reals, wherever it is defined.
enum class Sign : uint8_t { Positive, NonNegative, Any };  // each claims less than the one before

/// A value is its sign and a number of its own, by which x * x is seen as a square.
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
