// Merging sums over all parts of a split into one sum over the whole.

#include <algorithm>

#include "algebra/arena_state.h"

namespace mirage::algebra {

bool Arena::State::is_open_in(AtomId atom, Var v) const {
  const std::span<const Var> open = atoms[atom].open;
  return std::binary_search(open.begin(), open.end(), v);
}

bool Arena::State::find_run(AtomId id, std::span<const Node> siblings, Var first,
                            std::span<Var> run) const {
  const Atom& atom = atoms[id];
  for (size_t axis = 0; axis < atom.ends.size(); ++axis) {
    const std::span<const Var> list = atom.list(axis);
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i] != first) continue;
      if (i + siblings.size() > list.size()) return false;
      for (size_t j = 0; j < siblings.size(); ++j) {
        if (list[i + j].node != siblings[j]) return false;
        run[j] = list[i + j];
      }
      return true;
    }
  }
  for (Nf arg : atom.args)
    for (const Monomial& m : form(arg).monomials)
      for (const Factor& f : m.factors)
        if (is_open_in(f.atom, first)) return find_run(f.atom, siblings, first, run);
  return false;
}

bool Arena::State::only_in_runs(AtomId id, std::span<const Var> run) const {
  const Atom& atom = atoms[id];
  bool is_touched = false;
  for (Var v : run) is_touched = is_touched || is_open_in(id, v);
  if (!is_touched) return true;
  for (size_t axis = 0; axis < atom.ends.size(); ++axis) {
    const std::span<const Var> list = atom.list(axis);
    for (size_t i = 0; i < list.size(); ++i) {
      if (std::find(run.begin(), run.end(), list[i]) == run.end()) continue;
      if (i + run.size() > list.size() ||
          !std::equal(run.begin(), run.end(), list.begin() + static_cast<std::ptrdiff_t>(i)))
        return false;
      i += run.size() - 1;
    }
  }
  for (Nf arg : atom.args)
    for (const Monomial& m : form(arg).monomials)
      for (const Factor& f : m.factors)
        if (!only_in_runs(f.atom, run)) return false;
  return true;
}

bool Arena::State::merge_parts(Raw& raw) {
  for (const Var first : raw.bound) {
    if (index.is_root(first.node) || index.info(first.node).position != 0) continue;
    const std::span<const Node> siblings = index.siblings(first.node);
    Var run_data[3];
    const std::span<Var> run(run_data, siblings.size());
    bool is_run = false;
    for (const Factor& f : raw.factors)
      if (is_open_in(f.atom, first)) {
        is_run = find_run(f.atom, siblings, first, run);
        break;
      }
    for (Var v : run)
      is_run = is_run && std::find(raw.bound.begin(), raw.bound.end(), v) != raw.bound.end();
    for (const Factor& f : raw.factors) is_run = is_run && only_in_runs(f.atom, run);
    if (!is_run) continue;

    const Var whole = temp(index.info(first.node).parent);
    Map map;
    for (size_t j = 0; j < run.size(); ++j)
      map.push_back({run[j], j == 0 ? std::span<const Var>(&whole, 1) : std::span<const Var>()});
    Raw merged;
    merged.coefficient = raw.coefficient;
    for (Var v : raw.bound)
      if (std::find(run.begin(), run.end(), v) == run.end()) merged.bound.push_back(v);
    merged.bound.push_back(whole);
    for (const Factor& f : raw.factors) append_mapped(merged, f, map);
    raw = std::move(merged);
    return true;
  }
  return false;
}

void Arena::State::merge_sizes(Raw& raw) {
  for (size_t i = 0; i < raw.factors.size(); ++i) {
    const Atom& atom = atoms[raw.factors[i].atom];
    if (atom.kind != AtomKind::Size || index.is_root(atom.symbol)) continue;
    const std::span<const Node> siblings = index.siblings(atom.symbol);
    Rational common;
    bool is_complete = true;
    for (size_t j = 0; j < siblings.size() && is_complete; ++j) {
      Rational power(0);
      for (const Factor& f : raw.factors)
        if (atoms[f.atom].kind == AtomKind::Size && atoms[f.atom].symbol == siblings[j])
          power = f.power;
      is_complete = !power.is_zero() && (j == 0 || (power.num > 0) == (common.num > 0));
      if (j == 0 || abs(power) < abs(common)) common = power;
    }
    if (!is_complete) continue;
    const Node parent = index.info(atom.symbol).parent;
    const SmallVector<Node, 3> parts{siblings};
    for (Node part : parts) append(raw, intern(AtomKind::Size, part, {}), -common);
    append(raw, intern(AtomKind::Size, parent, {}), common);
    i = static_cast<size_t>(-1);  // start again: the parent may complete another run
  }
}

}  // namespace mirage::algebra
