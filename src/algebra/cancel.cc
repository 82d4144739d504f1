// Cancellation of a sum against its own reciprocal. Prenex form hides S * S^-1, because S is
// expanded and S^-1 is one atom; without this step the closure of the search would not even be
// finite.

#include <algorithm>

#include "algebra/arena_state.h"

namespace mirage::algebra {
namespace {

constexpr size_t kMaxAssignments = 64;

}  // namespace

bool Arena::State::cancel_one(Sum& sum) {
  for (size_t term = 0; term < sum.terms.size(); ++term) {
    const Monomial whole = sum.terms[term];
    for (const Factor& divisor : whole.factors) {
      if (atoms[divisor.atom].kind != AtomKind::Poly || divisor.power.num >= 0) continue;
      const Nf poly = atoms[divisor.atom].args[0];
      const std::span<const Monomial> parts = form(poly).monomials;
      if (parts.size() > sum.terms.size()) continue;
      size_t chosen = 0;
      for (size_t j = 1; j < parts.size(); ++j)
        if (parts[j].factors.size() > parts[chosen].factors.size()) chosen = j;
      const Monomial& part = parts[chosen];
      if (part.factors.size() >= whole.factors.size() + 1 ||
          part.binders.size() > whole.binders.size())
        continue;

      // Injective assignments of the part's bound variables to those of the whole, by node.
      SmallVector<size_t, 8> images;
      images.resize(part.binders.size());
      size_t tried = 0;
      const auto is_used = [&](size_t upto, size_t image) {
        for (size_t i = 0; i < upto; ++i)
          if (images[i] == image) return true;
        return false;
      };
      const auto attempt = [&]() -> bool {
        SmallVector<Var, 6> targets;
        targets.resize(part.binders.size());
        Map map;
        for (size_t i = 0; i < part.binders.size(); ++i) {
          targets[i] = whole.bound(images[i]);
          map.push_back({part.bound(i), {&targets[i], 1}});
        }
        Raw found;
        for (const Factor& f : part.factors) append_mapped(found, f, map);
        if (failed || !(found.coefficient == Rational(1))) return false;
        // quotient = whole / found
        SmallVector<Factor, 8> quotient{whole.factors};
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
            if (is_open_in(f.atom, v)) return false;
        // The quotient with fresh variables, times one more power of the sum.
        Raw base;
        SmallVector<Var, 6> temps;
        temps.resize(whole.binders.size());
        Map fresh;
        for (size_t i = 0; i < whole.binders.size(); ++i) {
          bool is_taken = false;
          for (size_t image : images) is_taken = is_taken || image == i;
          if (is_taken) continue;
          temps[i] = temp(whole.binders[i]);
          base.bound.push_back(temps[i]);
          fresh.push_back({whole.bound(i), {&temps[i], 1}});
        }
        base.coefficient = whole.coefficient / part.coefficient;
        for (const Factor& f : quotient) append_mapped(base, f, fresh);
        SmallVector<size_t, 8> gone{term};
        for (size_t j = 0; j < parts.size(); ++j) {
          if (j == chosen) continue;
          Raw other = base;
          append_monomial(other, parts[j], fresh);
          Sum single;
          emit(std::move(other), single);
          if (failed || single.terms.size() != 1) return false;
          size_t at = sum.terms.size();
          for (size_t i = 0; i < sum.terms.size(); ++i)
            if (sum.terms[i].id == single.terms[0].id &&
                sum.terms[i].coefficient == single.terms[0].coefficient)
              at = i;
          if (at == sum.terms.size() || std::find(gone.begin(), gone.end(), at) != gone.end())
            return false;
          gone.push_back(at);
        }
        Raw factor_of_poly;
        append_mapped(factor_of_poly, {divisor.atom, Rational(1)}, fresh);
        if (factor_of_poly.factors.size() != 1) return false;
        append(base, factor_of_poly.factors[0].atom, Rational(1));
        if (failed) return false;
        std::vector<Monomial> kept;
        for (size_t i = 0; i < sum.terms.size(); ++i)
          if (std::find(gone.begin(), gone.end(), i) == gone.end()) kept.push_back(sum.terms[i]);
        sum.terms = std::move(kept);
        emit(std::move(base), sum);
        return true;
      };
      const auto assign = [&](auto&& self, size_t i) -> bool {
        if (i == part.binders.size()) return ++tried <= kMaxAssignments && attempt();
        for (size_t image = 0; image < whole.binders.size(); ++image) {
          if (whole.binders[image] != part.binders[i] || is_used(i, image)) continue;
          images[i] = image;
          if (self(self, i + 1)) return true;
          if (failed || tried > kMaxAssignments) return false;
        }
        return false;
      };
      // Cheap refusal: every kind of factor of the part must be there.
      bool is_possible = true;
      for (const Factor& f : part.factors) {
        const Atom& wanted = atoms[f.atom];
        bool is_there = false;
        for (const Factor& g : whole.factors) {
          const Atom& have = atoms[g.atom];
          is_there = is_there ||
                     (have.kind == wanted.kind && have.symbol == wanted.symbol &&
                      (g.power.num > 0) == (f.power.num > 0) && !(abs(g.power) < abs(f.power)));
        }
        is_possible = is_possible && is_there;
      }
      work += parts.size();
      if (work > limits.work) failed = true;
      if (is_possible && assign(assign, 0)) return true;
      if (failed) return false;
    }
  }
  return false;
}

}  // namespace mirage::algebra
