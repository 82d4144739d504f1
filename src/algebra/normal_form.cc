#include "algebra/normal_form.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "algebra/arena_state.h"

namespace mirage::algebra {
namespace {

enum Op : uint32_t {
  AddOp,
  MulOp,
  PowerOp,
  ExpOp,
  LogOp,
  MaximumOp,
  SumOp,
  MaximumOverOp,
  SubstituteOp,
  MergeFreeOp
};

constexpr std::string_view kMaxName = "max";
constexpr std::string_view kElementName =
    "element";  // of a family: FN(max, Sum_k FN(element, x[k]))

/// Runs a public operation: temporaries are given back, a failure inside becomes the invalid form.
template <class F>
Nf guarded(Arena::State& s, F f) {
  const uint32_t temps = s.next_temp;
  Nf result = f();
  s.next_temp = temps;
  if (s.failed) {
    s.failed = false;
    result = {};
  }
  return result;
}

template <class F>
Nf memoised(Arena::State& s, uint32_t op, uint32_t a, uint32_t b, F f) {
  Nf result;
  if (s.find_memo(op, a, b, result)) return result;
  result = guarded(s, f);
  s.remember(op, a, b, result);
  return result;
}

void append_words(SmallVector<uint32_t, 32>& words, std::span<const Var> vars) {
  words.push_back(static_cast<uint32_t>(vars.size()));
  for (Var v : vars) {
    words.push_back(v.node);
    words.push_back(v.id);
  }
}

bool has_temps(std::span<const Var> vars) {
  return std::any_of(vars.begin(), vars.end(), [](Var v) { return v.is_temp(); });
}

}  // namespace

Arena::Arena(Limits limits) : state_(std::make_unique<State>(limits)) {}
Arena::~Arena() = default;

IndexTree& Arena::index() { return state_->index; }
const IndexTree& Arena::index() const { return state_->index; }
const Limits& Arena::limits() const { return state_->limits; }

Nf Arena::input(uint32_t tensor, std::span<const std::vector<Var>> lists) {
  return guarded(*state_, [&] {
    SmallVector<Var, 16> vars;
    SmallVector<uint8_t, 8> ends;
    for (const auto& list : lists) {
      vars.append(list);
      if (vars.size() > 255) state_->failed = true;
      ends.push_back(static_cast<uint8_t>(vars.size()));
    }
    Raw raw;
    raw.factors.push_back({state_->intern(AtomKind::In, tensor, 0, vars, ends, {}), Rational(1)});
    return state_->finish(std::move(raw));
  });
}

Nf Arena::number(Rational value) {
  return guarded(*state_, [&] {
    Raw raw;
    raw.coefficient = value;
    return state_->finish(std::move(raw));
  });
}

Nf Arena::literal(double value) {
  if (!std::isfinite(value)) return {};
  constexpr double kBits = 1 << 20;
  // An integer, or a fraction with a power of two below, of at most 20 bits each.
  double scaled = std::fabs(value);
  int64_t den = 1;
  while (scaled != std::floor(scaled) && den < (1 << 20)) {
    scaled *= 2;
    den *= 2;
  }
  if (scaled == std::floor(scaled) && scaled <= kBits)
    return number(Rational(static_cast<int64_t>(value < 0 ? -scaled : scaled), den));
  return guarded(*state_, [&] {
    Raw raw;
    raw.coefficient = Rational(value < 0 ? -1 : 1);
    const uint64_t bits = std::bit_cast<uint64_t>(std::fabs(value));
    raw.factors.push_back({state_->intern(AtomKind::Unit, 0, bits, {}, {}, {}), Rational(1)});
    return state_->finish(std::move(raw));
  });
}

Nf Arena::size(Node node) {
  return guarded(*state_, [&] {
    Raw raw;
    raw.factors.push_back({state_->intern(AtomKind::Size, node, {}), Rational(1)});
    return state_->finish(std::move(raw));
  });
}

Nf Arena::add(Nf a, Nf b) {
  if (!a.is_valid() || !b.is_valid()) return {};
  if (b < a) std::swap(a, b);
  const Nf terms[] = {a, b};
  return memoised(*state_, AddOp, a.index, b.index, [&] { return add_all(terms); });
}

Nf Arena::add_all(std::span<const Nf> terms) {
  for (Nf a : terms)
    if (!a.is_valid()) return {};
  return guarded(*state_, [&] {
    Sum sum;
    for (Nf a : terms)
      for (const Monomial& m : state_->form(a).monomials) state_->add_term(sum, m);
    return state_->finish(sum);
  });
}

Nf Arena::neg(Nf a) { return mul(a, number(-1)); }
Nf Arena::sub(Nf a, Nf b) { return add(a, neg(b)); }

Nf Arena::mul(Nf a, Nf b) {
  if (!a.is_valid() || !b.is_valid()) return {};
  if (b < a) std::swap(a, b);
  State& s = *state_;
  return memoised(s, MulOp, a.index, b.index, [&]() -> Nf {
    const std::span<const Monomial> left = s.form(a).monomials;
    const std::span<const Monomial> right = s.form(b).monomials;
    if (s.limits.lazy_powers && left.size() > 2 && left.size() == right.size()) {
      Raw raw;
      const Nf p = s.take_content(raw, a, 1, Content::All);
      if (!s.failed && p == s.take_content(raw, b, 1, Content::All)) {
        s.append(raw, s.intern(AtomKind::Poly, 0, std::span<const Nf>(&p, 1)), 2);
        return s.finish(std::move(raw));
      }
    }
    Sum sum;
    for (const Monomial& l : left)
      for (const Monomial& r : right) {
        if (s.failed) return {};
        Raw raw;
        s.append_monomial(raw, l);
        s.append_monomial(raw, r);
        s.emit(std::move(raw), sum);
      }
    return s.finish(sum);
  });
}

Nf Arena::div(Nf a, Nf b) { return mul(a, reciprocal(b)); }

Nf Arena::power(Nf a, Rational exponent) {
  if (!a.is_valid() || !exponent.is_valid()) return {};
  if (exponent == Rational(1)) return a;
  State& s = *state_;
  const uint32_t words[] = {
      static_cast<uint32_t>(exponent.num), static_cast<uint32_t>(exponent.num >> 32),
      static_cast<uint32_t>(exponent.den), static_cast<uint32_t>(exponent.den >> 32)};
  return memoised(s, PowerOp, a.index, s.intern_words(words), [&]() -> Nf {
    Raw raw;
    const std::span<const Monomial> terms = s.form(a).monomials;
    const bool is_product = terms.size() == 1 && terms[0].binders.empty();
    const bool is_expanded = !s.limits.lazy_powers || terms.size() <= 2;
    if (!is_product && is_expanded && exponent.is_integer() && exponent.num > 1 &&
        exponent.num <= 8) {
      Nf result = a;
      for (int64_t i = 1; i < exponent.num && result.is_valid(); ++i) result = mul(result, a);
      if (!result.is_valid()) s.failed = true;
      return result;
    }
    s.append_power(raw, a, exponent);
    return s.finish(std::move(raw));
  });
}

Nf Arena::exp(Nf a) {
  if (!a.is_valid()) return {};
  return memoised(*state_, ExpOp, a.index, 0, [&] {
    Raw raw;
    state_->append_exp(raw, a, 1);
    return state_->finish(std::move(raw));
  });
}

Nf Arena::log(Nf a) {
  if (!a.is_valid()) return {};
  State& s = *state_;
  return memoised(s, LogOp, a.index, 0, [&]() -> Nf {
    // log(e^x y) = x + log(y), whether or not the shift stands outside a sum.
    Raw shift;
    const Nf rest = s.take_content(shift, a, 1, Content::Exp);
    if (s.failed) return {};
    Sum sum;
    for (const Factor& f : shift.factors)
      for (const Monomial& m : s.form(s.atoms[f.atom].args[0]).monomials) {
        Monomial scaled = m;
        scaled.coefficient = m.coefficient * f.power;
        s.add_term(sum, scaled);
      }
    const std::span<const Monomial> terms = s.form(rest).monomials;
    const bool is_one = terms.size() == 1 && terms[0].binders.empty() && terms[0].factors.empty() &&
                        terms[0].coefficient == Rational(1);
    if (!is_one) {
      Raw raw;
      s.append(raw, s.intern(AtomKind::Fn, s.name("log"), std::span<const Nf>(&rest, 1)), 1);
      s.emit(std::move(raw), sum);
    }
    return s.finish(sum);
  });
}

// A maximum is FN(max, set) where the set is a sum of FN(element, x) with coefficients 1:
// associative, commutative and idempotent, and maxima over parts merge by the rules of sums.

Nf Arena::State::as_set(Nf a) {
  const std::span<const Monomial> terms = form(a).monomials;
  if (terms.size() == 1 && terms[0].binders.empty() && terms[0].coefficient == Rational(1) &&
      terms[0].factors.size() == 1 && terms[0].factors[0].power == Rational(1)) {
    const Atom& atom = atoms[terms[0].factors[0].atom];
    if (atom.kind == AtomKind::Fn && names[atom.symbol] == kMaxName) return atom.args[0];
  }
  Raw raw;
  append(raw, intern(AtomKind::Fn, name(kElementName), std::span<const Nf>(&a, 1)), 1);
  return finish(std::move(raw));
}

Nf Arena::State::from_set(Sum& set) {
  // Of plain numbers only the largest one counts.
  const auto number_in = [this](const Monomial& m, Rational& value) {
    if (!m.binders.empty() || m.factors.size() != 1) return false;
    const std::span<const Monomial> x = form(atoms[m.factors[0].atom].args[0]).monomials;
    if (x.size() > 1 || (x.size() == 1 && !(x[0].factors.empty() && x[0].binders.empty())))
      return false;
    value = x.empty() ? Rational(0) : x[0].coefficient;
    return true;
  };
  std::vector<Monomial> kept;
  Monomial largest{};
  Rational best;
  bool has_number = false;
  for (Monomial m : set.terms) {
    m.coefficient = Rational(1);
    Rational value;
    if (!number_in(m, value)) {
      kept.push_back(m);
    } else if (!has_number || best < value) {
      has_number = true;
      best = value;
      largest = m;
    }
  }
  // What is never negative hides a number that is not positive: relu(exp(x)) = exp(x).
  for (const Monomial& m : kept)
    if (has_number && best.num <= 0 && form(atoms[m.factors[0].atom].args[0]).is_positive)
      has_number = false;
  if (has_number) kept.push_back(largest);
  if (kept.size() == 1 && kept[0].binders.empty()) return atoms[kept[0].factors[0].atom].args[0];
  set.terms = std::move(kept);
  const Nf form_of_set = finish(set);
  Raw raw;
  append(raw, intern(AtomKind::Fn, name(kMaxName), std::span<const Nf>(&form_of_set, 1)), 1);
  return finish(std::move(raw));
}

Nf Arena::maximum(Nf a, Nf b) {
  if (!a.is_valid() || !b.is_valid()) return {};
  if (b < a) std::swap(a, b);
  State& s = *state_;
  return memoised(s, MaximumOp, a.index, b.index, [&] {
    Sum set;
    for (Nf x : {a, b})
      for (const Monomial& m : s.form(s.as_set(x)).monomials) s.add_term(set, m);
    return s.from_set(set);
  });
}

Nf Arena::function(std::string_view name, std::span<const Nf> args) {
  for (Nf a : args)
    if (!a.is_valid()) return {};
  return guarded(*state_, [&] {
    Raw raw;
    raw.factors.push_back({state_->intern(AtomKind::Fn, state_->name(name), args), Rational(1)});
    return state_->finish(std::move(raw));
  });
}

namespace {

/// Binds in every term of `a`; `drop_dead` is for families to which repetition makes no difference.
void bind_terms(Arena::State& s, Nf a, std::span<const Var> variables, bool drop_dead, Sum& sum) {
  for (const Monomial& m : s.form(a).monomials) {
    if (s.failed) return;
    Map map;
    Raw raw;
    SmallVector<Var, 8> temps;
    for (Var v : variables) temps.push_back(s.temp(v.node));
    for (size_t i = 0; i < variables.size(); ++i) {
      map.push_back({variables[i], {&temps[i], 1}});
      raw.bound.push_back(temps[i]);
    }
    s.append_monomial(raw, m, map);
    s.emit(std::move(raw), sum, drop_dead);
  }
}

}  // namespace

Nf Arena::family(std::string_view name, std::span<const Nf> args, std::span<const Var> variables) {
  State& s = *state_;
  const Nf element = function(kElementName, args);
  if (!element.is_valid()) return {};
  return guarded(s, [&] {
    Sum sum;
    bind_terms(s, element, variables, false, sum);
    const Nf bound = s.finish(sum);
    Raw raw;
    s.append(raw, s.intern(AtomKind::Fn, s.name(name), std::span<const Nf>(&bound, 1)), 1);
    return s.finish(std::move(raw));
  });
}

Nf Arena::sum(Nf a, std::span<const Var> variables) {
  if (!a.is_valid()) return {};
  if (variables.empty()) return a;
  State& s = *state_;
  const auto compute = [&] {
    Sum result;
    bind_terms(s, a, variables, false, result);
    return s.finish(result);
  };
  if (has_temps(variables)) return guarded(s, compute);
  SmallVector<uint32_t, 32> words;
  append_words(words, variables);
  return memoised(s, SumOp, a.index, s.intern_words(words), compute);
}

Nf Arena::maximum_over(Nf a, std::span<const Var> variables) {
  if (!a.is_valid()) return {};
  if (variables.empty()) return a;
  State& s = *state_;
  const auto compute = [&] {
    Sum set;
    bind_terms(s, s.as_set(a), variables, true, set);
    return s.failed ? Nf{} : s.from_set(set);
  };
  if (has_temps(variables)) return guarded(s, compute);
  SmallVector<uint32_t, 32> words;
  append_words(words, variables);
  return memoised(s, MaximumOverOp, a.index, s.intern_words(words), compute);
}

Nf Arena::substitute(Nf a, std::span<const Substitution> substitutions) {
  if (!a.is_valid()) return {};
  State& s = *state_;
  Map map;
  bool is_temporary = false;
  SmallVector<uint32_t, 32> words;
  for (const Substitution& r : substitutions) {
    map.push_back({r.variable, r.list});
    append_words(words, {&r.variable, 1});
    append_words(words, r.list);
    is_temporary = is_temporary || r.variable.is_temp() || has_temps(r.list);
  }
  const auto compute = [&] { return s.map_form(a, map); };
  if (is_temporary) return guarded(s, compute);
  return memoised(s, SubstituteOp, a.index, s.intern_words(words), compute);
}

Nf Arena::substitute(Factor factor, std::span<const Substitution> substitutions) {
  State& s = *state_;
  return guarded(s, [&] {
    Map map;
    for (const Substitution& r : substitutions) map.push_back({r.variable, r.list});
    Raw raw;
    s.append_mapped(raw, factor, map);
    return s.finish(std::move(raw));
  });
}

Nf Arena::merge_free(Nf a) {
  if (!a.is_valid()) return {};
  State& s = *state_;
  return memoised(s, MergeFreeOp, a.index, 0, [&] {
    Nf result = a;
    for (bool is_changed = true; is_changed && !s.failed;) {
      is_changed = false;
      for (const Var first : s.form(result).open) {
        if (!first.is_free() || s.index.is_root(first.node) ||
            s.index.info(first.node).position != 0)
          continue;
        const std::span<const Node> siblings = s.index.siblings(first.node);
        SmallVector<Var, 3> run;
        for (Node node : siblings) run.push_back({node, first.id});
        bool is_run = true;
        for (const Monomial& m : s.form(result).monomials)
          for (const Factor& f : m.factors) is_run = is_run && s.only_in_runs(f.atom, run);
        if (!is_run) continue;
        const Var whole{s.index.info(first.node).parent, first.id};
        Map map;
        for (size_t j = 0; j < run.size(); ++j)
          map.push_back(
              {run[j], j == 0 ? std::span<const Var>(&whole, 1) : std::span<const Var>()});
        result = s.map_form(result, map);
        is_changed = true;
        break;
      }
    }
    return result;
  });
}

std::span<const Monomial> Arena::monomials(Nf a) const {
  if (!a.is_valid()) return {};
  return state_->form(a).monomials;
}
const Atom& Arena::atom(AtomId id) const { return state_->atoms[id]; }
std::string_view Arena::function_name(const Atom& fn) const { return state_->names[fn.symbol]; }
Hash128 Arena::hash(Nf a) const { return a.is_valid() ? state_->form(a).hash : Hash128{}; }
std::span<const Var> Arena::free_variables(Nf a) const {
  if (!a.is_valid()) return {};
  return state_->form(a).open;
}
bool Arena::is_positive(Nf a) const { return a.is_valid() && state_->form(a).is_positive; }

Var Arena::temp(Node node) { return state_->temp(node); }
void Arena::fresh_temps() { state_->next_temp = 0; }

Nf Arena::monomial(Rational coefficient, std::span<const Factor> factors,
                   std::span<const Var> bound) {
  return guarded(*state_, [&] {
    Raw raw;
    raw.coefficient = coefficient;
    for (const Factor& f : factors) state_->append(raw, f.atom, f.power);
    raw.bound.append(bound);
    return state_->finish(std::move(raw));
  });
}

size_t Arena::form_count() const { return state_->forms.size(); }
size_t Arena::atom_count() const { return state_->atoms.size(); }

}  // namespace mirage::algebra
