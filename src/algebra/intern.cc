// Storage and hash-consing of atoms, monomials and normal forms.

#include <algorithm>

#include "algebra/arena_state.h"

namespace mirage::algebra {
namespace {

template <class T>
bool same(std::span<const T> a, std::span<const T> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

void sort_unique(SmallVector<Var, 16>& vars) {
  std::sort(vars.begin(), vars.end());
  const size_t size = static_cast<size_t>(std::unique(vars.begin(), vars.end()) - vars.begin());
  while (vars.size() > size) vars.pop_back();
}

}  // namespace

uint32_t Arena::State::name(std::string_view text) {
  const uint64_t hash = hash_bytes(text).low;
  const uint32_t found = name_index.find(hash, [&](uint32_t id) { return names[id] == text; });
  if (found != UINT32_MAX) return found;
  names.emplace_back(text);
  name_index.insert(hash, static_cast<uint32_t>(names.size() - 1));
  return static_cast<uint32_t>(names.size() - 1);
}

uint64_t Arena::State::var_hash(Var v) const { return mix(index.info(v.node).hash, v.id); }

bool Arena::State::is_nonnegative(const Factor& factor) const {
  // A fractional power with an even denominator is a nonnegative root; even powers are squares.
  return atoms[factor.atom].is_positive || factor.power.den % 2 == 0 ||
         (factor.power.is_integer() && factor.power.num % 2 == 0);
}

AtomId Arena::State::intern(AtomKind kind, uint32_t symbol, uint64_t bits,
                            std::span<const Var> vars, std::span<const uint8_t> ends,
                            std::span<const Nf> args) {
  Mixer mixer(static_cast<uint64_t>(kind) + 1);
  // Content, not ids, so that hashes agree between arenas.
  if (kind == AtomKind::Size)
    mixer.add(index.info(symbol).hash);
  else if (kind == AtomKind::Fn)
    mixer.add(hash_bytes(names[symbol]));
  else
    mixer.add(symbol);
  mixer.add(bits);
  mixer.add(ends.size());
  for (uint8_t end : ends) mixer.add(end);
  for (Var v : vars) mixer.add(var_hash(v));
  mixer.add(args.size());
  for (Nf arg : args) mixer.add(form(arg).hash);
  const Hash128 hash = mixer.finish();

  const uint32_t found = atom_index.find(hash.low, [&](uint32_t id) {
    const Atom& a = atoms[id];
    return a.hash == hash && a.kind == kind && a.symbol == symbol && a.bits == bits &&
           same(a.vars, vars) && same(a.ends, ends) && same(a.args, args);
  });
  if (found != UINT32_MAX) return found;

  Atom atom{};
  atom.kind = kind;
  atom.symbol = symbol;
  atom.bits = bits;
  atom.hash = hash;
  atom.is_positive = kind == AtomKind::Size || kind == AtomKind::Unit || kind == AtomKind::Prime ||
                     kind == AtomKind::Exp || (kind == AtomKind::Poly && form(args[0]).is_positive);
  uint16_t depth = 0;
  SmallVector<Var, 16> open{vars};
  for (Nf arg : args) {
    atom.height = std::max(atom.height, form(arg).height);
    depth = std::max(depth, form(arg).depth);
    open.append(form(arg).open);
  }
  ++depth;
  if (depth > limits.depth) failed = true;
  sort_unique(open);
  atom.vars = pool.copy(vars);
  atom.ends = pool.copy(ends);
  atom.args = pool.copy(args);
  atom.open = same<Var>(open, vars) ? atom.vars : pool.copy<Var>(open);
  atoms.push_back(atom);
  atom_depths.push_back(depth);
  const AtomId id = static_cast<AtomId>(atoms.size() - 1);
  atom_index.insert(hash.low, id);
  return id;
}

Monomial Arena::State::intern_monomial(Rational coefficient, std::span<const Factor> factors,
                                       std::span<const Node> binders, uint16_t height) {
  SmallVector<Factor, 8> sorted{factors};
  std::sort(sorted.begin(), sorted.end(), [this](const Factor& a, const Factor& b) {
    return atoms[a.atom].hash < atoms[b.atom].hash;
  });
  Mixer mixer(17);
  mixer.add(binders.size());
  for (Node node : binders) mixer.add(index.info(node).hash);
  for (const Factor& factor : sorted) {
    mixer.add(atoms[factor.atom].hash);
    mixer.add(factor.power);
  }
  const Hash128 key = mixer.finish();
  uint32_t id = key_index.find(key.low, [&](uint32_t other) {
    const Monomial& m = keys[other];
    return m.key == key && same<Factor>(m.factors, sorted) && same(m.binders, binders);
  });
  if (id == UINT32_MAX) {
    Monomial m{};
    m.factors = pool.copy<Factor>(sorted);
    m.binders = pool.copy(binders);
    m.height = height;
    m.key = key;
    m.id = static_cast<uint32_t>(keys.size());
    SmallVector<Var, 16> open;
    for (const Factor& factor : sorted) open.append(atoms[factor.atom].open);
    sort_unique(open);
    size_t kept = 0;
    for (Var v : open) {
      bool is_own = false;
      for (size_t i = 0; i < binders.size() && !is_own; ++i) is_own = v == m.bound(i);
      if (!is_own) open[kept++] = v;
    }
    while (open.size() > kept) open.pop_back();
    m.open = pool.copy<Var>(open);
    id = m.id;
    keys.push_back(m);
    key_index.insert(key.low, id);
  }
  Monomial result = keys[id];
  result.coefficient = coefficient;
  return result;
}

Nf Arena::State::intern_form(std::span<const Monomial> sorted) {
  Mixer mixer(29);
  mixer.add(sorted.size());
  for (const Monomial& m : sorted) {
    mixer.add(m.coefficient);
    mixer.add(m.key);
  }
  const Hash128 hash = mixer.finish();
  const uint32_t found = form_index.find(hash.low, [&](uint32_t id) {
    const Form& f = forms[id];
    if (f.hash != hash || f.monomials.size() != sorted.size()) return false;
    for (size_t i = 0; i < sorted.size(); ++i)
      if (f.monomials[i].id != sorted[i].id || f.monomials[i].coefficient != sorted[i].coefficient)
        return false;
    return true;
  });
  if (found != UINT32_MAX) return Nf{found};

  Form f;
  f.monomials = pool.copy(sorted);
  f.hash = hash;
  f.is_positive = true;
  SmallVector<Var, 16> open;
  for (const Monomial& m : sorted) {
    f.height = std::max(f.height, m.height);
    open.append(m.open);
    f.is_positive = f.is_positive && m.coefficient.num > 0;
    for (const Factor& factor : m.factors) {
      f.depth = std::max(f.depth, atom_depths[factor.atom]);
      f.is_positive = f.is_positive && is_nonnegative(factor);
    }
  }
  sort_unique(open);
  f.open = pool.copy<Var>(open);
  forms.push_back(f);
  form_index.insert(hash.low, static_cast<uint32_t>(forms.size() - 1));
  return Nf{static_cast<uint32_t>(forms.size() - 1)};
}

uint32_t Arena::State::intern_words(std::span<const uint32_t> list) {
  uint64_t hash = mix(3, list.size());
  for (uint32_t word : list) hash = mix(hash, word);
  const uint32_t found = word_index.find(hash, [&](uint32_t id) { return same(words[id], list); });
  if (found != UINT32_MAX) return found;
  words.push_back(pool.copy(list));
  word_index.insert(hash, static_cast<uint32_t>(words.size() - 1));
  return static_cast<uint32_t>(words.size() - 1);
}

bool Arena::State::find_memo(uint32_t op, uint32_t a, uint32_t b, Nf& result) const {
  const uint32_t found = memo_index.find(mix(mix(op, a), b), [&](uint32_t id) {
    return memos[id].op == op && memos[id].a == a && memos[id].b == b;
  });
  if (found == UINT32_MAX) return false;
  result.index = memos[found].result;
  return true;
}

void Arena::State::remember(uint32_t op, uint32_t a, uint32_t b, Nf result) {
  memos.push_back({op, a, b, result.index});
  memo_index.insert(mix(mix(op, a), b), static_cast<uint32_t>(memos.size() - 1));
}

}  // namespace mirage::algebra
