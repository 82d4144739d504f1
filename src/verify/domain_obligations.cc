#include "verify/domain_obligations.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "interp/evaluator.h"
#include "verify/domain_sign.h"

namespace mirage::verify {
namespace {

using interp::FieldRecord;

Result<SignDomain> signs_of(const ir::Graph& graph) {
  interp::Evaluator<SignDomain> evaluator(graph);
  SignDomain domain;
  evaluator.fill_inputs([&](size_t) { return domain.fresh(); });
  MIRAGE_TRY_VOID(evaluator.run(domain));
  return domain;
}

/// Values of one expression in the two runs.
using TwoPoints = std::pair<uint64_t, uint64_t>;

/// Whether an expression is a unit multiple of one of `base`, of its inverse, or of a product or
/// quotient of two of them: then its ratio to that is the same at both points.
class UnitMultiples {
 public:
  UnitMultiples(std::vector<TwoPoints> base, const interp::Prime& p) : p_(p) {
    base.erase(std::remove_if(base.begin(), base.end(),
                              [](const TwoPoints& v) { return v.first == 0 || v.second == 0; }),
               base.end());
    std::sort(base.begin(), base.end());
    base.erase(std::unique(base.begin(), base.end()), base.end());
    // The change from the first point to the second is what unit multiples have in common.
    std::set<uint64_t> simple = {1};  // a constant
    for (const auto& [a, b] : base) {
      const uint64_t change = p.mul(b, p.inverse(a));
      simple.insert(change);
      simple.insert(p.inverse(change));
    }
    changes_ = simple;
    if (simple.size() > kMostPaired) return;
    for (uint64_t one : simple)
      for (uint64_t other : simple) changes_.insert(p.mul(one, other));
  }
  bool contain(const TwoPoints& x) {
    if (x.first == 0 || x.second == 0) return x.first == x.second;
    if (last_ == x) return true;  // a row is divided by one number again and again
    if (changes_.count(p_.mul(x.second, p_.inverse(x.first))) == 0) return false;
    last_ = x;
    return true;
  }

 private:
  static constexpr size_t kMostPaired = 129;  // 64, their inverses and 1
  const interp::Prime& p_;
  std::set<uint64_t> changes_;
  TwoPoints last_ = {0, 0};
};

/// The calls of one program: its records of both runs, and what their form says.
struct Calls {
  const FieldRecord& one;
  const FieldRecord& other;
  const SignDomain& signs;

  TwoPoints denominator(size_t i) const { return {one.denominators[i], other.denominators[i]}; }
  TwoPoints radicand(size_t i) const { return {one.radicands[i], other.radicands[i]}; }
  TwoPoints partial(size_t i) const { return {one.partials[i].value, other.partials[i].value}; }
};

/// What the program asks of its inputs. What must not vanish may be built from its denominators and
/// radicands (a radicand that vanishes is a denominator in rsqrt); what must not be negative only
/// from its radicands and from denominators that are positive by their form.
struct Known {
  std::vector<TwoPoints> nonzero, nonnegative;
};

Known known_of(const Calls& program) {
  Known known;
  for (size_t i = 0; i < program.signs.denominators().size(); ++i) {
    known.nonzero.push_back(program.denominator(i));
    if (program.signs.denominators()[i] != Sign::Any)
      known.nonnegative.push_back(program.denominator(i));
  }
  for (size_t i = 0; i < program.signs.radicands().size(); ++i) {
    known.nonzero.push_back(program.radicand(i));
    known.nonnegative.push_back(program.radicand(i));
  }
  for (size_t i = 0; i < program.signs.partials().size(); ++i) {
    const FieldRecord::Partial& call = program.one.partials[i];
    if (!call.may_vanish || !call.may_be_negative) known.nonzero.push_back(program.partial(i));
    if (!call.may_be_negative) known.nonnegative.push_back(program.partial(i));
  }
  return known;
}

std::string objection(const Calls& candidate, UnitMultiples no_zeros, UnitMultiples no_negatives) {
  const SignDomain& signs = candidate.signs;
  for (size_t i = 0; i < signs.denominators().size(); ++i)
    if (signs.denominators()[i] != Sign::Positive && !no_zeros.contain(candidate.denominator(i)))
      return fmt::format(
          "domain: denominator number {} of the candidate is none of the program's and may vanish",
          i);
  for (size_t i = 0; i < signs.radicands().size(); ++i)
    if (signs.radicands()[i] == Sign::Any && !no_negatives.contain(candidate.radicand(i)))
      return fmt::format(
          "domain: radicand number {} of the candidate is none of the program's and may be "
          "negative",
          i);
  for (size_t i = 0; i < signs.partials().size(); ++i) {
    const Sign sign = signs.partials()[i];
    const FieldRecord::Partial& call = candidate.one.partials[i];
    const bool vanishes =
        !call.may_vanish && sign != Sign::Positive && !no_zeros.contain(candidate.partial(i));
    const bool is_negative =
        !call.may_be_negative && sign == Sign::Any && !no_negatives.contain(candidate.partial(i));
    if (vanishes || is_negative)
      return fmt::format(
          "domain: base of a power or argument of a logarithm number {} of the candidate is none "
          "of the program's and may be outside",
          i);
  }
  return {};
}

}  // namespace

Result<std::string> unmet_obligation(const ir::Graph& reference, const ir::Graph& candidate,
                                     const FieldRecord (&records)[2][2], const interp::Prime& p) {
  MIRAGE_TRY(const SignDomain own_signs, signs_of(reference));
  MIRAGE_TRY(const SignDomain signs, signs_of(candidate));
  Known known = known_of({records[0][0], records[1][0], own_signs});
  return objection({records[0][1], records[1][1], signs},
                   UnitMultiples(std::move(known.nonzero), p),
                   UnitMultiples(std::move(known.nonnegative), p));
}

}  // namespace mirage::verify
