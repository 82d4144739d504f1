// Cancellation of a sum against its own reciprocal. Prenex form hides S * S^-1, because S is
// expanded and S^-1 is one atom; without this step the closure of the search would not even be
// finite.

#include <algorithm>

#include "algebra/arena_state.h"

namespace mirage::algebra {
namespace {

constexpr size_t kMaxAssignments = 64;

/// One attempt to cancel: a term of the sum is quotient * P^-n, and quotient * part of P for every
/// part of P stands in the sum; they become quotient * P^(1-n). Leaves the sum as it is if not.
class Cancellation {
 public:
  Cancellation(Arena::State& state, Sum& sum, size_t term, const Factor& divisor)
      : state_(state),
        sum_(sum),
        term_(term),
        divisor_(divisor),
        whole_(sum.terms[term]),
        parts_(state.form(state.atoms[divisor.atom].args[0]).monomials) {
    for (size_t j = 1; j < parts_.size(); ++j)
      if (parts_[j].factors.size() > parts_[chosen_].factors.size()) chosen_ = j;
    images_.resize(part().binders.size());
  }

  bool run() {
    if (parts_.size() > sum_.terms.size() || part().factors.size() >= whole_.factors.size() + 1 ||
        part().binders.size() > whole_.binders.size())
      return false;
    state_.work += parts_.size();
    if (state_.work > state_.limits.work) state_.failed = true;
    return has_all_kinds() && assign(0);
  }

 private:
  using Factors = SmallVector<Factor, 8>;
  using Places = SmallVector<size_t, 8>;

  /// The part of the most factors, which the term is divided by.
  const Monomial& part() const { return parts_[chosen_]; }

  /// Cheap refusal: every kind of factor of the part must be there.
  bool has_all_kinds() const {
    for (const Factor& f : part().factors) {
      const Atom& wanted = state_.atoms[f.atom];
      bool is_there = false;
      for (const Factor& g : whole_.factors) {
        const Atom& have = state_.atoms[g.atom];
        is_there =
            is_there || (have.kind == wanted.kind && have.symbol == wanted.symbol &&
                         (g.power.num > 0) == (f.power.num > 0) && !(abs(g.power) < abs(f.power)));
      }
      if (!is_there) return false;
    }
    return true;
  }

  /// Injective assignments of the part's bound variables, from `i` on, to those of the whole, by
  /// node, until one lets the sum cancel.
  bool assign(size_t i) {
    if (i == images_.size()) return ++tried_ <= kMaxAssignments && attempt();
    for (size_t image = 0; image < whole_.binders.size(); ++image) {
      if (whole_.binders[image] != part().binders[i] || is_image(image, i)) continue;
      images_[i] = image;
      if (assign(i + 1)) return true;
      if (state_.failed || tried_ > kMaxAssignments) return false;
    }
    return false;
  }
  bool is_image(size_t variable, size_t upto) const {
    for (size_t i = 0; i < upto; ++i)
      if (images_[i] == variable) return true;
    return false;
  }

  bool attempt() {
    Factors quotient{whole_.factors};
    if (!divide(quotient)) return false;
    // The quotient with fresh variables, times one more power of the sum.
    SmallVector<Var, 6> temps;
    temps.resize(whole_.binders.size());
    Map fresh;
    Raw base;
    for (size_t i = 0; i < whole_.binders.size(); ++i) {
      if (is_image(i, images_.size())) continue;
      temps[i] = state_.temp(whole_.binders[i]);
      base.bound.push_back(temps[i]);
      fresh.push_back({whole_.bound(i), {&temps[i], 1}});
    }
    base.coefficient = whole_.coefficient / part().coefficient;
    for (const Factor& f : quotient) state_.append_mapped(base, f, fresh);
    Places gone{term_};
    if (!find_others(base, fresh, gone)) return false;
    Raw poly;
    state_.append_mapped(poly, {divisor_.atom, Rational(1)}, fresh);
    if (poly.factors.size() != 1) return false;
    state_.append(base, poly.factors[0].atom, Rational(1));
    if (state_.failed) return false;
    std::vector<Monomial> kept;
    for (size_t i = 0; i < sum_.terms.size(); ++i)
      if (std::find(gone.begin(), gone.end(), i) == gone.end()) kept.push_back(sum_.terms[i]);
    sum_.terms = std::move(kept);
    state_.emit(std::move(base), sum_);
    return true;
  }

  /// Divides by the part, whose variables are those of the whole now; none may be left over.
  bool divide(Factors& quotient) const {
    SmallVector<Var, 6> targets;
    targets.resize(images_.size());
    Map map;
    for (size_t i = 0; i < images_.size(); ++i) {
      targets[i] = whole_.bound(images_[i]);
      map.push_back({part().bound(i), {&targets[i], 1}});
    }
    Raw found;
    for (const Factor& f : part().factors) state_.append_mapped(found, f, map);
    if (state_.failed || !(found.coefficient == Rational(1))) return false;
    for (const Factor& f : found.factors) {
      size_t at = quotient.size();
      for (size_t i = 0; i < quotient.size(); ++i)
        if (quotient[i].atom == f.atom) at = i;
      if (at == quotient.size() || (quotient[at].power.num > 0) != (f.power.num > 0) ||
          abs(quotient[at].power) < abs(f.power))
        return false;
      quotient[at].power = quotient[at].power - f.power;
      if (quotient[at].power.is_zero()) quotient.erase(at);
    }
    for (Var v : targets)
      for (const Factor& f : quotient)
        if (state_.is_open_in(f.atom, v)) return false;
    return true;
  }

  /// Adds to `gone` where `base` times each other part stands in the sum.
  bool find_others(const Raw& base, const Map& fresh, Places& gone) const {
    for (size_t j = 0; j < parts_.size(); ++j) {
      if (j == chosen_) continue;
      Raw other = base;
      state_.append_monomial(other, parts_[j], fresh);
      Sum single;
      state_.emit(std::move(other), single);
      if (state_.failed || single.terms.size() != 1) return false;
      size_t at = sum_.terms.size();
      for (size_t i = 0; i < sum_.terms.size(); ++i)
        if (sum_.terms[i].id == single.terms[0].id &&
            sum_.terms[i].coefficient == single.terms[0].coefficient)
          at = i;
      if (at == sum_.terms.size() || std::find(gone.begin(), gone.end(), at) != gone.end())
        return false;
      gone.push_back(at);
    }
    return true;
  }

  Arena::State& state_;
  Sum& sum_;
  size_t term_;
  const Factor divisor_;
  const Monomial whole_;
  const std::span<const Monomial> parts_;
  size_t chosen_ = 0;
  Places images_;  // by bound variable of the part: which one of the whole
  size_t tried_ = 0;
};

}  // namespace

bool Arena::State::cancel_one(Sum& sum) {
  for (size_t term = 0; term < sum.terms.size(); ++term) {
    const Monomial whole = sum.terms[term];
    for (const Factor& divisor : whole.factors) {
      if (atoms[divisor.atom].kind != AtomKind::Poly || divisor.power.num >= 0) continue;
      if (Cancellation(*this, sum, term, divisor).run()) return true;
      if (failed) return false;
    }
  }
  return false;
}

}  // namespace mirage::algebra
