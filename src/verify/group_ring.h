#pragma once
// Values in the group ring F_p[F_q]: sparse sums of c[e], where [e] stands for the exponential of
// e. Exponentials are kept apart by their exponents instead of being multiplied out, so that
// equality of two values needs no independence of the exponents (Theorem B). Quotients are pairs.
// Values without exponentials are plain residues.

#include <memory>
#include <utility>
#include <vector>

#include "interp/domain_field.h"

namespace mirage::verify {

/// A sum of coefficient [exponent], by exponent; no coefficient is 0.
struct RingSum {
  std::vector<std::pair<uint64_t, uint64_t>> terms;  // exponent, coefficient
  double count = 1;                                  // terms before any were merged
  double height = 0;  // exponentials that were multiplied in one term
};
using RingPtr = std::shared_ptr<const RingSum>;

template <int L>
class RingDomain {
 public:
  using Field = interp::FieldDomain<L>;
  struct Value {
    typename Field::Value scalar;  // with exponentials multiplied out
    RingPtr top, bottom;           // null: the scalar itself; 1
    bool is_plain() const { return !top && !bottom; }
  };

  RingDomain(const interp::PrimeChain& chain, uint64_t key) : field_(chain, key) {}

  void set_levels(int levels) { field_.set_levels(levels); }
  /// Empty, or why equality in this ring proves nothing.
  const std::string& obstacle() const { return obstacle_; }

  Value plain(const typename Field::Value& scalar) const { return {scalar, nullptr, nullptr}; }
  Value constant(double value) { return plain(field_.constant(value)); }
  Value count(int64_t n) { return plain(field_.count(n)); }
  Value zero() { return plain(field_.zero()); }
  Value lowest() { return plain(field_.lowest()); }
  Value fresh_gauge() { return plain(field_.fresh_gauge()); }

  Value neg(const Value& a) { return scaled(field_.neg(a.scalar), a, p().neg(p().one())); }
  Value add(const Value& a, const Value& b) {
    const auto scalar = field_.add(a.scalar, b.scalar);
    if ((a.is_plain() && b.is_plain()) || scalar.levels == 0) return plain(scalar);
    if (a.bottom == b.bottom) return {scalar, sum(top(a), top(b)), a.bottom};
    return {scalar, sum(product(top(a), b.bottom), product(top(b), a.bottom)),
            product(a.bottom, b.bottom)};
  }
  Value sub(const Value& a, const Value& b) { return add(a, neg(b)); }
  Value mul(const Value& a, const Value& b) {
    const auto scalar = field_.mul(a.scalar, b.scalar);
    if (scalar.levels == 0) return plain(scalar);
    if (a.is_plain()) return scaled(scalar, b, a.scalar.r[0]);
    if (b.is_plain()) return scaled(scalar, a, b.scalar.r[0]);
    if (b.bottom && a.top == b.bottom) return {scalar, b.top, a.bottom};
    if (a.bottom && b.top == a.bottom) return {scalar, a.top, b.bottom};
    return {scalar, product(a.top, b.top), product(a.bottom, b.bottom)};
  }
  Value div(const Value& a, const Value& b) {
    const auto scalar = field_.quotient(a.scalar, b.scalar);
    if (scalar.levels == 0) return plain(scalar);
    if (b.is_plain()) return scaled(scalar, a, p().inverse(b.scalar.r[0]));
    if (b.top->terms.size() == 1) {
      const auto [exponent, coefficient] = b.top->terms[0];
      RingSum inverse{{{q().neg(exponent), p().inverse(coefficient)}}, 1, b.top->height};
      const RingPtr unit = std::make_shared<const RingSum>(std::move(inverse));
      return {scalar, product(product(top(a), unit), b.bottom), a.bottom};
    }
    if (a.bottom == b.bottom) return {scalar, top(a), b.top};
    return {scalar, product(top(a), b.bottom), product(a.bottom, b.top)};
  }
  Value maximum(const Value& a, const Value& b) {
    return opaque(field_.maximum(a.scalar, b.scalar), a, b);
  }
  Value minimum(const Value& a, const Value& b) {
    return opaque(field_.minimum(a.scalar, b.scalar), a, b);
  }
  Value pow(const Value& a, const Value& b) { return opaque(field_.pow(a.scalar, b.scalar), a, b); }
  Value apply(ir::Fn fn, const Value& x) {
    const auto scalar = field_.apply(fn, x.scalar);
    if (scalar.levels == 0) return plain(scalar);
    if (fn == ir::Fn::Sqrt && !x.is_plain() && !x.bottom && x.top->terms.size() == 1) {
      const auto [exponent, coefficient] = x.top->terms[0];
      const std::optional<uint64_t> root = p().root(coefficient);
      const uint64_t half = q().mul(exponent, q().inverse(q().from_integer(2)));
      if (root)
        return {scalar, std::make_shared<const RingSum>(RingSum{{{half, *root}}, 1, x.top->height}),
                nullptr};
    }
    if (!x.is_plain() || (fn == ir::Fn::Exp && x.scalar.levels < 2)) return opaque(scalar, x, x);
    if (fn != ir::Fn::Exp) return plain(scalar);
    return {scalar, std::make_shared<const RingSum>(RingSum{{{x.scalar.r[1], p().one()}}, 1, 1}),
            nullptr};
  }
  Value dot(const Value* a, int64_t step_a, const Value* b, int64_t step_b, int64_t n) {
    if (n == 0) return zero();
    Value result = mul(a[0], b[0]);
    for (int64_t i = 1; i < n; ++i) result = add(result, mul(a[i * step_a], b[i * step_b]));
    return result;
  }

  /// Whether a - b has no coefficient; count and height are those of its cross-multiplied
  /// numerator.
  struct Comparison {
    bool is_equal = false;
    double count = 0, height = 0;
  };
  Comparison compare(const Value& a, const Value& b) {
    if (a.scalar.levels == 0 || b.scalar.levels == 0) return {};
    const RingPtr x = product(top(a), b.bottom), y = product(top(b), a.bottom);
    return {x->terms == y->terms, x->count + y->count, std::max(x->height, y->height)};
  }

 private:
  static constexpr size_t kMaxTerms = 4096;
  static constexpr uint64_t kMaxWork = 4'000'000;

  const interp::Prime& p() const { return field_.prime(0); }
  const interp::Prime& q() const { return field_.prime(1); }

  RingPtr top(const Value& a) const {
    if (a.top) return a.top;
    RingSum unit;
    if (a.scalar.r[0] != 0) unit.terms = {{0, a.scalar.r[0]}};
    return std::make_shared<const RingSum>(std::move(unit));
  }
  Value scaled(const typename Field::Value& scalar, const Value& a, uint64_t factor) {
    if (a.is_plain() || scalar.levels == 0) return plain(scalar);
    RingSum result{{}, a.top->count, a.top->height};
    spend(a.top->terms.size());
    if (factor != 0)
      for (const auto& [exponent, coefficient] : a.top->terms)
        result.terms.emplace_back(exponent, p().mul(coefficient, factor));
    return {scalar, std::make_shared<const RingSum>(std::move(result)), a.bottom};
  }
  RingPtr sum(const RingPtr& a, const RingPtr& b) {
    RingSum result{{}, a->count + b->count, std::max(a->height, b->height)};
    spend(a->terms.size() + b->terms.size());
    auto x = a->terms.begin(), y = b->terms.begin();
    while (x != a->terms.end() || y != b->terms.end()) {
      if (y == b->terms.end() || (x != a->terms.end() && x->first < y->first)) {
        result.terms.push_back(*x++);
      } else if (x == a->terms.end() || y->first < x->first) {
        result.terms.push_back(*y++);
      } else {
        const uint64_t coefficient = p().add(x->second, y->second);
        if (coefficient != 0) result.terms.emplace_back(x->first, coefficient);
        ++x;
        ++y;
      }
    }
    return std::make_shared<const RingSum>(std::move(result));
  }
  /// Null stands for 1.
  RingPtr product(const RingPtr& a, const RingPtr& b) {
    if (!a || !b) return a ? a : b;
    RingSum result{{}, a->count * b->count, a->height + b->height};
    if (!spend(a->terms.size() * b->terms.size())) return a;
    for (const auto& [e, c] : a->terms)
      for (const auto& [f, d] : b->terms) result.terms.emplace_back(q().add(e, f), p().mul(c, d));
    std::sort(result.terms.begin(), result.terms.end());
    size_t kept = 0;
    for (size_t i = 0; i < result.terms.size();) {
      auto [exponent, coefficient] = result.terms[i++];
      while (i < result.terms.size() && result.terms[i].first == exponent)
        coefficient = p().add(coefficient, result.terms[i++].second);
      if (coefficient != 0) result.terms[kept++] = {exponent, coefficient};
    }
    result.terms.resize(kept);
    return std::make_shared<const RingSum>(std::move(result));
  }
  /// A function that is computed from the residues: only arguments without exponentials are known
  /// to be told apart.
  Value opaque(const typename Field::Value& scalar, const Value& a, const Value& b) {
    if (obstacle_.empty() && (!a.is_plain() || !b.is_plain()))
      obstacle_ = "a root, exponential or unknown function of a sum of exponentials";
    return plain(scalar);
  }
  bool spend(uint64_t terms) {
    work_ += terms;
    if ((work_ > kMaxWork || terms > kMaxTerms * 16) && obstacle_.empty())
      obstacle_ = "too many exponentials";
    return obstacle_.empty() || work_ <= kMaxWork;
  }

  Field field_;
  std::string obstacle_;
  uint64_t work_ = 0;
};

}  // namespace mirage::verify
