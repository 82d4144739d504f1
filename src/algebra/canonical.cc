// Canonicalisation of products and sums: like factors and terms merged, sums of parts merged, bound
// variables named.

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "algebra/arena_state.h"

namespace mirage::algebra {
namespace {

constexpr uint64_t kSelf = 0x5e1f5e1f5e1f5e1fu;
constexpr int64_t kLargestExpandedPower = 8;
constexpr uint16_t kDepthToRemember = 2;
constexpr uint32_t kMapOp = 1000;  // beside the memoised operations of normal_form.cc

const Replacement* find(const Map& map, Var v) {
  for (const Replacement& r : map)
    if (r.from == v) return &r;
  return nullptr;
}

bool touches(std::span<const Var> open, const Map& map) {
  for (const Replacement& r : map)
    if (std::binary_search(open.begin(), open.end(), r.from)) return true;
  return false;
}

/// Colours of the variables that are being named.
struct Colours {
  std::span<const Var> vars;
  SmallVector<uint64_t, 8> values;
  uint16_t height = 0;                                 // binders below it belong to inner sums
  mutable std::unordered_map<AtomId, uint64_t> known;  // of deep atoms, for these values

  const uint64_t* of(Var v) const {
    for (size_t i = 0; i < vars.size(); ++i)
      if (vars[i] == v) return &values[i];
    return nullptr;
  }
};

/// Hash of an atom in which coloured variables count by their colour and inner bound ones by node.
uint64_t colour_of(const Arena::State& s, AtomId id, const Colours& colours);

}  // namespace

void Arena::State::append(Raw& raw, AtomId atom, Rational power) {
  for (size_t i = 0; i < raw.factors.size(); ++i) {
    if (raw.factors[i].atom != atom) continue;
    raw.factors[i].power = raw.factors[i].power + power;
    if (raw.factors[i].power.is_zero()) raw.factors.erase(i);
    return;
  }
  if (raw.factors.size() >= limits.factors) {
    failed = true;
    return;
  }
  raw.factors.push_back({atom, power});
}

void Arena::State::append_root(Raw& raw, Rational positive, Rational power) {
  if (power.is_integer()) {
    raw.coefficient = raw.coefficient * algebra::power(positive, power.num);
    return;
  }
  const auto append_number = [&](int64_t n, Rational p) {
    for (int64_t prime = 2; prime * prime <= n && prime < 100000; ++prime) {
      int64_t count = 0;
      for (; n % prime == 0; n /= prime) ++count;
      if (count > 0)
        append(raw, intern(AtomKind::Prime, 0, static_cast<uint64_t>(prime), {}, {}, {}),
               Rational(count) * p);
    }
    if (n > 1) append(raw, intern(AtomKind::Prime, 0, static_cast<uint64_t>(n), {}, {}, {}), p);
  };
  append_number(positive.num, power);
  append_number(positive.den, -power);
}

Nf Arena::State::take_content(Raw& raw, Nf a, Rational power, Content kind) {
  const std::span<const Monomial> terms = form(a).monomials;
  // The first term's factors (and, for reciprocals, everybody's) are the candidates.
  SmallVector<Factor, 8> common;
  const auto power_in = [](const Monomial& m, AtomId atom) {
    for (const Factor& f : m.factors)
      if (f.atom == atom) return f.power;
    return Rational(0);
  };
  for (const Monomial& m : terms) {
    for (const Factor& f : m.factors) {
      const Atom& atom = atoms[f.atom];
      if (kind == Content::Exp && atom.kind != AtomKind::Exp) continue;
      if (kind == Content::NonNegative && !atom.is_positive) continue;
      bool is_seen = false;
      for (const Factor& g : common) is_seen = is_seen || g.atom == f.atom;
      for (size_t i = 0; i < m.binders.size() && !is_seen; ++i)
        is_seen = is_open_in(f.atom, m.bound(i));
      if (is_seen) continue;
      Rational least = f.power;
      for (const Monomial& other : terms) least = std::min(least, power_in(other, f.atom));
      if (!least.is_zero()) common.push_back({f.atom, least});
    }
  }
  Rational number(1);
  if (kind != Content::Exp) {
    int64_t num = 0, den = 1;
    for (const Monomial& m : terms) {
      num = std::gcd(num, m.coefficient.num);
      const int64_t step = m.coefficient.den / std::gcd(den, m.coefficient.den);
      if (__builtin_mul_overflow(den, step, &den)) failed = true;
      if (failed) return a;
    }
    number = Rational(num, den);
  }
  if (common.empty() && number == Rational(1)) return a;
  for (const Factor& f : common) append(raw, f.atom, f.power * power);
  if (number != Rational(1)) append_root(raw, number, power);

  Sum rest;
  for (const Monomial& m : terms) {
    // Bound variables stay as they are numbered: dividing by open atoms can only lower the height,
    // so they are renamed by emit all the same.
    Raw divided;
    append_monomial(divided, m);
    divided.coefficient = divided.coefficient / number;
    for (const Factor& f : common) append(divided, f.atom, -f.power);
    emit(std::move(divided), rest);
  }
  return finish(rest);
}

void Arena::State::append_power(Raw& raw, Nf base, Rational power) {
  if (failed || power.is_zero()) return;
  if (form(base).monomials.empty()) {
    if (power.num < 0) failed = true;
    raw.coefficient = Rational(0);
    return;
  }
  const bool is_fraction = !power.is_integer();
  const Nf rest = take_content(raw, base, power, is_fraction ? Content::NonNegative : Content::All);
  if (failed) return;
  const std::span<const Monomial> terms = form(rest).monomials;
  if (terms.size() == 1 && terms[0].binders.empty()) {
    const Monomial& m = terms[0];
    if (m.factors.empty()) {
      if (m.coefficient == Rational(1)) return;
      // Content left a sign.
      if (is_fraction)
        failed = true;
      else
        raw.coefficient = raw.coefficient * algebra::power(m.coefficient, power.num);
      return;
    }
    if (!is_fraction) {  // content takes every factor, unless it failed
      raw.coefficient = raw.coefficient * algebra::power(m.coefficient, power.num);
      for (const Factor& f : m.factors) append(raw, f.atom, f.power * power);
      return;
    }
    // The root of an odd power exists only where the base is nonnegative.
    if (m.coefficient == Rational(1) && m.factors.size() == 1 && m.factors[0].power.num % 2 != 0) {
      append(raw, m.factors[0].atom, m.factors[0].power * power);
      return;
    }
  }
  append(raw, intern(AtomKind::Poly, 0, std::span<const Nf>(&rest, 1)), power);
}

void Arena::State::append_exp(Raw& raw, Nf exponent, Rational power) {
  const size_t count = form(exponent).monomials.size();
  for (size_t i = 0; i < count && !failed; ++i) {
    Monomial m = form(exponent).monomials[i];
    const Rational scale = m.coefficient * power;
    if (m.binders.empty() && m.factors.size() == 1 && m.factors[0].power == Rational(1) &&
        (scale.den == 1 || scale.den == 2)) {
      const Atom& atom = atoms[m.factors[0].atom];
      if (atom.kind == AtomKind::Fn && names[atom.symbol] == "log") {
        append_power(raw, atom.args[0], scale);
        continue;
      }
    }
    m.coefficient = Rational(1);
    const Nf unit = intern_form({&m, 1});
    append(raw, intern(AtomKind::Exp, 0, std::span<const Nf>(&unit, 1)), scale);
  }
}

void Arena::State::append_mapped(Raw& raw, const Factor& factor, const Map& map) {
  const Atom& atom = atoms[factor.atom];
  if (!touches(atom.open, map)) {
    append(raw, factor.atom, factor.power);
    return;
  }
  switch (atom.kind) {
    case AtomKind::In: {
      SmallVector<Var, 16> vars;
      SmallVector<uint8_t, 8> ends;
      for (size_t axis = 0; axis < atom.ends.size(); ++axis) {
        for (Var v : atom.list(axis)) {
          const Replacement* r = find(map, v);
          if (r)
            vars.append(r->to);
          else
            vars.push_back(v);
        }
        if (vars.size() > 255) failed = true;
        ends.push_back(static_cast<uint8_t>(vars.size()));
      }
      if (failed) return;
      append(raw, intern(AtomKind::In, atom.symbol, atom.bits, vars, ends, {}), factor.power);
      return;
    }
    case AtomKind::Exp:
      append_exp(raw, map_form(atom.args[0], map), factor.power);
      return;
    case AtomKind::Poly:
      append_power(raw, map_form(atom.args[0], map), factor.power);
      return;
    case AtomKind::Fn: {
      SmallVector<Nf, 4> args;
      for (Nf arg : atom.args) args.push_back(map_form(arg, map));
      if (failed) return;
      append(raw, intern(AtomKind::Fn, atom.symbol, args), factor.power);
      return;
    }
    case AtomKind::Size:
    case AtomKind::Unit:
    case AtomKind::Prime:
      append(raw, factor.atom, factor.power);
      return;
  }
}

void Arena::State::append_monomial(Raw& raw, const Monomial& monomial, const Map& map) {
  Map renamed = map;
  SmallVector<Var, 6> temps;
  for (Node node : monomial.binders) temps.push_back(temp(node));
  for (size_t i = 0; i < monomial.binders.size(); ++i) {
    renamed.push_back({monomial.bound(i), {&temps[i], 1}});
    raw.bound.push_back(temps[i]);
  }
  if (raw.bound.size() > limits.binders) failed = true;
  raw.coefficient = raw.coefficient * monomial.coefficient;
  for (const Factor& f : monomial.factors) {
    if (failed) return;
    append_mapped(raw, f, renamed);
  }
}

void Arena::State::emit(Raw raw, Sum& sum, bool drop_dead) {
  if (++work > limits.work) failed = true;
  if (failed) return;
  if (!raw.coefficient.is_valid()) {
    failed = true;
    return;
  }
  if (raw.coefficient.is_zero()) return;

  for (size_t i = 0; i < raw.factors.size(); ++i) {
    Factor& f = raw.factors[i];
    const Atom& atom = atoms[f.atom];
    if (!f.power.is_valid()) {
      failed = true;
      return;
    }
    if (atom.kind == AtomKind::Prime) {
      int64_t whole = f.power.num / f.power.den;
      if (f.power.num < 0 && f.power.num % f.power.den != 0) --whole;
      if (whole == 0) continue;
      raw.coefficient =
          raw.coefficient * algebra::power(Rational(static_cast<int64_t>(atom.bits)), whole);
      f.power = f.power - Rational(whole);
      if (f.power.is_zero()) raw.factors.erase(i--);
    } else if (atom.kind == AtomKind::Poly && f.power.is_integer() && f.power.num > 0) {
      const size_t count = form(atom.args[0]).monomials.size();
      const bool is_lazy = limits.lazy_powers && count > 2;
      if (f.power.num > 1 && (is_lazy || f.power.num > kLargestExpandedPower)) continue;
      f.power = f.power - Rational(1);
      if (f.power.is_zero()) raw.factors.erase(i);
      for (size_t j = 0; j < count && !failed; ++j) {
        Raw product = raw;
        append_monomial(product, form(atom.args[0]).monomials[j]);
        emit(std::move(product), sum, drop_dead);
      }
      return;
    }
  }

  for (size_t i = 0; i < raw.bound.size(); ++i) {
    bool is_live = false;
    for (const Factor& f : raw.factors) is_live = is_live || is_open_in(f.atom, raw.bound[i]);
    if (is_live) continue;
    if (!drop_dead) append(raw, intern(AtomKind::Size, raw.bound[i].node, {}), Rational(1));
    raw.bound.erase(i--);
  }
  while (!failed && merge_parts(raw)) {
  }
  merge_sizes(raw);
  if (failed) return;
  add_term(sum, named(raw));
}

namespace {

uint64_t colour_of_form(const Arena::State& s, Nf a, const Colours& colours) {
  uint64_t total = 0;
  for (const Monomial& m : s.form(a).monomials) {
    uint64_t product = 0;
    for (const Factor& f : m.factors)
      product += mix(colour_of(s, f.atom, colours),
                     mix(static_cast<uint64_t>(f.power.num), static_cast<uint64_t>(f.power.den)));
    uint64_t binders = 0;
    for (Node node : m.binders) binders += mix(11, s.index.info(node).hash);
    total += mix(mix(product, binders), mix(static_cast<uint64_t>(m.coefficient.num),
                                            static_cast<uint64_t>(m.coefficient.den)));
  }
  return total;
}

uint64_t colour_of(const Arena::State& s, AtomId id, const Colours& colours) {
  const Atom& atom = s.atoms[id];
  bool is_plain = true;
  for (Var v : atom.open)
    if (colours.of(v) || (!v.is_free())) is_plain = false;
  if (is_plain) return atom.hash.low;
  const bool is_deep = s.atom_depths[id] > kDepthToRemember;
  if (is_deep)
    if (const auto at = colours.known.find(id); at != colours.known.end()) return at->second;
  uint64_t hash = mix(static_cast<uint64_t>(atom.kind), atom.symbol);
  for (size_t axis = 0; axis < atom.ends.size(); ++axis) {
    hash = mix(hash, 77);
    for (Var v : atom.list(axis)) {
      const uint64_t* colour = colours.of(v);
      const bool is_inner = v.is_bound() && ((v.id >> 8) & 0xffff) < colours.height;
      // Other temporaries wait for their own name; until then only their node is known.
      const uint64_t node = s.index.info(v.node).hash;
      hash = mix(hash, colour ? *colour : is_inner || v.is_temp() ? mix(node, 5) : mix(node, v.id));
    }
  }
  for (Nf arg : atom.args) hash = mix(hash, colour_of_form(s, arg, colours));
  if (is_deep) colours.known.emplace(id, hash);
  return hash;
}

}  // namespace

Monomial Arena::State::named(const Raw& raw) {
  uint16_t inner = 0;
  for (const Factor& f : raw.factors) inner = std::max(inner, atoms[f.atom].height);
  if (raw.bound.empty()) return intern_monomial(raw.coefficient, raw.factors, {}, inner);

  const uint16_t height = static_cast<uint16_t>(inner + 1);
  const size_t count = raw.bound.size();
  Colours colours;
  colours.vars = raw.bound;
  colours.height = height;
  for (Var v : raw.bound) colours.values.push_back(mix(index.info(v.node).hash, 9));
  for (int round = 0; round < 2 && count > 1; ++round) {
    SmallVector<uint64_t, 8> refined = colours.values;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t mine = colours.values[i];
      colours.values[i] = mix(kSelf, mine);
      colours.known.clear();
      uint64_t occurrences = 0;
      for (const Factor& f : raw.factors)
        if (is_open_in(f.atom, raw.bound[i]))
          occurrences +=
              mix(colour_of(*this, f.atom, colours),
                  mix(static_cast<uint64_t>(f.power.num), static_cast<uint64_t>(f.power.den)));
      colours.values[i] = mine;
      refined[i] = mix(mine, occurrences);
    }
    colours.values = refined;
    colours.known.clear();
  }
  SmallVector<size_t, 8> order;
  for (size_t i = 0; i < count; ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return colours.values[a] < colours.values[b]; });

  const auto with_order = [&](const SmallVector<size_t, 8>& chosen) {
    SmallVector<Var, 6> names_of;
    SmallVector<Node, 8> binders;
    names_of.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const Var v = raw.bound[chosen[i]];
      binders.push_back(v.node);
      names_of[i] = {v.node, Monomial::bound_id(height, i)};
    }
    Map map;
    for (size_t i = 0; i < count; ++i) map.push_back({raw.bound[chosen[i]], {&names_of[i], 1}});
    Raw renamed;
    renamed.coefficient = raw.coefficient;
    for (const Factor& f : raw.factors) append_mapped(renamed, f, map);
    return intern_monomial(renamed.coefficient, renamed.factors, binders, height);
  };
  Monomial best = with_order(order);
  // Variables that look alike: try their orders (in the order of next_permutation within groups).
  size_t tried = 1;
  for (size_t begin = 0; begin < count && !failed;) {
    size_t end = begin + 1;
    while (end < count && colours.values[order[end]] == colours.values[order[begin]]) ++end;
    if (end - begin > 1) {
      SmallVector<size_t, 8> candidate = order;
      std::sort(candidate.begin() + begin, candidate.begin() + end);
      SmallVector<size_t, 8> best_order = order;
      do {
        const Monomial other = with_order(candidate);
        if (other.key < best.key) {
          best = other;
          best_order = candidate;
        }
      } while (++tried < limits.renamings &&
               std::next_permutation(candidate.begin() + begin, candidate.begin() + end));
      order = best_order;
    }
    begin = end;
  }
  return best;
}

void Arena::State::add_term(Sum& sum, Monomial term) {
  for (size_t i = 0; i < sum.terms.size(); ++i) {
    if (sum.terms[i].id != term.id) continue;
    sum.terms[i].coefficient = sum.terms[i].coefficient + term.coefficient;
    if (!sum.terms[i].coefficient.is_valid()) failed = true;
    if (sum.terms[i].coefficient.is_zero())
      sum.terms.erase(sum.terms.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
  if (sum.terms.size() >= limits.monomials) {
    failed = true;
    return;
  }
  sum.terms.push_back(term);
}

Nf Arena::State::finish(Sum& sum) {
  while (!failed && cancel_one(sum)) {
  }
  std::sort(sum.terms.begin(), sum.terms.end(),
            [](const Monomial& a, const Monomial& b) { return a.key < b.key; });
  return intern_form(sum.terms);
}

Nf Arena::State::finish(Raw raw) {
  Sum sum;
  emit(std::move(raw), sum);
  return finish(sum);
}

Nf Arena::State::map_form(Nf a, const Map& whole) {
  if (failed) return a;
  Map map;  // what concerns this form: makes remembered results common
  const std::span<const Var> open = form(a).open;
  for (const Replacement& r : whole)
    if (std::binary_search(open.begin(), open.end(), r.from)) map.push_back(r);
  if (map.empty()) return a;
  // A form is a graph with shared parts: without memory, deep ones would be walked as trees.
  const bool is_remembered = form(a).depth >= kDepthToRemember && limits.lazy_powers;
  uint32_t key = 0;
  if (is_remembered) {
    SmallVector<uint32_t, 32> list;
    for (const Replacement& r : map) {
      list.push_back(static_cast<uint32_t>(r.to.size()));
      list.push_back(r.from.node);
      list.push_back(r.from.id);
      for (Var v : r.to) {
        list.push_back(v.node);
        list.push_back(v.id);
      }
    }
    key = intern_words(list);
    Nf known;
    if (find_memo(kMapOp, a.index, key, known)) return known;
  }
  Sum sum;
  const std::span<const Monomial> terms = form(a).monomials;
  for (const Monomial& m : terms) {
    if (failed) return a;
    if (!touches(m.open, map)) {
      add_term(sum, m);
      continue;
    }
    Raw raw;
    append_monomial(raw, m, map);
    emit(std::move(raw), sum);
  }
  if (failed) return a;
  const Nf result = finish(sum);
  if (is_remembered && !failed) remember(kMapOp, a.index, key, result);
  return result;
}

}  // namespace mirage::algebra
