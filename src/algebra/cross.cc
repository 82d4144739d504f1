// Equality of quotients of different shape: clear denominators, expand, compare with zero.

#include "algebra/arena_state.h"
#include "algebra/prove.h"

namespace mirage::algebra {
namespace {

/// Denominators of a sum that no bound variable enters, each with the power that clears it.
std::vector<Factor> denominators(const Arena& arena, Nf a) {
  std::vector<Factor> result;
  for (const Monomial& m : arena.monomials(a))
    for (const Factor& f : m.factors) {
      if (!(f.power.num < 0)) continue;
      const Atom& atom = arena.atom(f.atom);
      if (atom.kind == AtomKind::Exp) continue;
      bool is_bound_here = false;
      for (size_t i = 0; i < m.binders.size(); ++i)
        for (Var v : atom.open) is_bound_here = is_bound_here || v == m.bound(i);
      if (is_bound_here) continue;
      bool is_known = false;
      for (Factor& known : result)
        if (known.atom == f.atom) {
          is_known = true;
          if (known.power < -f.power) known.power = -f.power;
        }
      if (!is_known) result.push_back({f.atom, -f.power});
    }
  return result;
}

}  // namespace

bool equal_after_cross_multiplication(Arena& arena, Nf a, Nf b) {
  Arena::State& state = arena.state();
  // Laziness would keep equal products apart; the memo knows nothing of the switch, so the
  // products below are made outside it.
  const bool was_lazy = state.limits.lazy_powers;
  const uint32_t temps = state.next_temp;
  state.limits.lazy_powers = false;
  const auto times = [&](Nf form, const std::vector<Factor>& factors) {
    Sum sum;
    for (const Monomial& m : state.form(form).monomials) {
      Raw raw;
      state.append_monomial(raw, m);
      for (const Factor& f : factors) state.append(raw, f.atom, f.power);
      state.emit(std::move(raw), sum);
      if (state.failed) return Nf{};
    }
    return state.finish(sum);
  };
  bool is_equal = false;
  Nf rest = arena.sub(a, b);
  for (size_t round = 0; round < 8 && rest.is_valid() && !state.failed; ++round) {
    rest = times(rest, denominators(arena, rest));  // expands lazy powers also when nothing divides
    if (!rest.is_valid() || state.failed) break;
    is_equal = arena.is_zero(rest);
    if (is_equal || (round > 0 && denominators(arena, rest).empty())) break;
  }
  state.limits.lazy_powers = was_lazy;
  state.next_temp = temps;
  state.failed = false;
  return is_equal;
}

}  // namespace mirage::algebra
