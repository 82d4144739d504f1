#include "verify/classes.h"

#include <fmt/format.h>

#include <algorithm>

namespace mirage::verify {

AxisAtoms Classes::fresh(int64_t extent) {
  if (extent == 1) return {};
  atoms_.push_back({extent, 0, atoms_.size(), {}, {}, false});
  return {atoms_.size() - 1};
}

AtomId Classes::find(AtomId atom) const {
  while (atoms_[atom].parent != atom) atom = atoms_[atom].parent;
  return atom;
}

bool Classes::is_plain(AtomId atom) const {
  const Atom& root = atoms_[find(atom)];
  return root.factors.empty() && root.parts.empty() && !root.frozen;
}

AxisAtoms Classes::resolve(const AxisAtoms& axis) const {
  AxisAtoms result;
  for (AtomId atom : axis) {
    const AtomId root = find(atom);
    if (atoms_[root].factors.empty()) {
      result.push_back(root);
      continue;
    }
    const AxisAtoms inner = resolve(atoms_[root].factors);
    result.insert(result.end(), inner.begin(), inner.end());
  }
  return result;
}

int64_t Classes::real_product(const AxisAtoms& axis) const {
  int64_t product = 1;
  for (AtomId atom : axis) product *= real_extent(atom);
  return product;
}

void Classes::freeze(const AxisAtoms& axis, const std::string& reason) {
  if (!reason.empty() &&
      std::find(conflicts_.begin(), conflicts_.end(), reason) == conflicts_.end())
    conflicts_.push_back(reason);
  for (AtomId atom : resolve(axis)) {
    if (atoms_[atom].frozen) continue;
    atoms_[atom].frozen = true;
    const std::vector<AxisAtoms> parts = atoms_[atom].parts;
    for (const AxisAtoms& part : parts) freeze(part, {});
  }
}

void Classes::split(AtomId atom, const AxisAtoms& factors) {
  Atom& root = atoms_[find(atom)];
  if (!root.parts.empty()) freeze({atom}, "a concatenated axis is also split");
  const bool frozen = atoms_[find(atom)].frozen;
  atoms_[find(atom)].factors = factors;
  if (frozen) freeze(factors, {});
}

void Classes::merge(AtomId a, AtomId b) {
  a = find(a);
  b = find(b);
  if (a == b) return;
  if (a > b) std::swap(a, b);
  const std::vector<AxisAtoms> parts = atoms_[b].parts;
  const bool frozen = atoms_[a].frozen || atoms_[b].frozen;
  atoms_[b].parent = a;
  if (atoms_[a].parts.empty()) {
    atoms_[a].parts = parts;
  } else if (!parts.empty()) {
    int64_t offset = 0;
    bool fits = true;
    atoms_[b].parent = b;  // apart while both are cut at the same offsets
    for (const AxisAtoms& part : parts)
      fits = fits && refine(a, offset += real_product(resolve(part)));
    offset = 0;
    for (const AxisAtoms& part : std::vector<AxisAtoms>(atoms_[a].parts))
      fits = fits && refine(b, offset += real_product(resolve(part)));
    const std::vector<AxisAtoms> mine = atoms_[a].parts, others = atoms_[b].parts;
    atoms_[b].parent = a;
    // Cutting one may have cut a part of the other in a way that its list does not show.
    fits = fits && mine.size() == others.size();
    for (size_t i = 0; fits && i < mine.size(); ++i)
      fits = real_product(resolve(mine[i])) == real_product(resolve(others[i]));
    for (size_t i = 0; fits && i < mine.size(); ++i) unify(mine[i], others[i]);
    if (!fits) {
      for (const AxisAtoms& part : others) freeze(part, {});
      freeze({a}, "concatenated axes do not align");
    }
  }
  if (frozen) {
    atoms_[a].frozen = false;
    freeze({a}, {});
  }
}

bool Classes::refine(AtomId atom, int64_t offset) {
  atom = find(atom);
  if (offset <= 0 || offset >= atoms_[atom].real) return true;
  if (atoms_[atom].parts.empty()) {
    if (!is_plain(atom)) return false;
    AxisAtoms left = fresh(offset), right = fresh(atoms_[atom].real - offset);
    atoms_[atom].parts = {left, right};
    return true;
  }
  int64_t start = 0;
  for (size_t i = 0; i < atoms_[atom].parts.size(); ++i) {
    const AxisAtoms part = resolve(atoms_[atom].parts[i]);
    const int64_t length = real_product(part);
    if (offset == start || offset == start + length) return true;
    if (offset < start + length) {
      if (part.size() != 1 || !refine(part[0], offset - start)) return false;
      const std::vector<AxisAtoms> inner = atoms_[find(part[0])].parts;
      auto& parts = atoms_[atom].parts;
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
      parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(i), inner.begin(), inner.end());
      return true;
    }
    start += length;
  }
  return true;
}

void Classes::unify(const AxisAtoms& a, const AxisAtoms& b) {
  AxisAtoms left = resolve(a), right = resolve(b);
  if (real_product(left) != real_product(right)) {
    // A ragged split: its factors cover more than the axis.
    has_ragged_splits_ = true;
    const auto can_become = [this](const AxisAtoms& one, const AxisAtoms& other) {
      return one.size() == 1 && other.size() > 1 && is_plain(one[0]) &&
             std::find(other.begin(), other.end(), one[0]) == other.end();
    };
    if (can_become(left, right)) {
      split(left[0], right);
    } else if (can_become(right, left)) {
      split(right[0], left);
    } else {
      freeze(left, "two ragged splits of one axis differ");
      freeze(right, {});
    }
    return;
  }
  while (true) {
    left = resolve(left);  // merging may have split what is left
    right = resolve(right);
    if (left.empty() || right.empty()) return;
    const AtomId x = find(left.back()), y = find(right.back());
    const int64_t ex = atoms_[x].real, ey = atoms_[y].real;
    if (x == y || ex == ey) {
      merge(x, y);
      left.pop_back();
      right.pop_back();
      continue;
    }
    const bool x_is_larger = ex > ey;
    const AtomId large = x_is_larger ? x : y;
    const int64_t inner = std::min(ex, ey), outer = std::max(ex, ey);
    if (outer % inner != 0) {
      freeze(left, fmt::format("splits of an axis have no common refinement ({} and {})", ex, ey));
      freeze(right, {});
      return;
    }
    const AxisAtoms major = fresh(outer / inner), minor = fresh(inner);
    split(large, {major[0], minor[0]});
  }
}

std::vector<AxisAtoms> Classes::reshape(const ir::Shape& to, const std::vector<AxisAtoms>& from) {
  AxisAtoms flat;
  for (const AxisAtoms& axis : from) flat.insert(flat.end(), axis.begin(), axis.end());
  const AxisAtoms all = flat = resolve(flat);
  std::vector<AxisAtoms> result(to.size());
  for (size_t i = to.size(); i-- > 0;) {
    int64_t need = to[i];
    while (need > 1) {
      const int64_t extent = flat.empty() ? 0 : real_extent(flat.back());
      if (extent > 0 && need % extent == 0) {
        result[i].insert(result[i].begin(), flat.back());
        flat.pop_back();
        need /= extent;
      } else if (extent > 0 && extent % need == 0) {
        const AxisAtoms major = fresh(extent / need), minor = fresh(need);
        split(flat.back(), {major[0], minor[0]});
        flat = resolve(flat);
      } else {
        freeze(all, "a reshape does not keep factors of axes together");
        for (size_t k = 0; k < to.size(); ++k) {
          result[k] = fresh(to[k]);
          freeze(result[k], {});
        }
        return result;
      }
    }
  }
  return result;
}

AxisAtoms Classes::narrow(const AxisAtoms& axis, int64_t start, int64_t length) {
  AxisAtoms atoms = resolve(axis);
  if (length == real_product(atoms)) return atoms;
  const bool fits =
      atoms.size() == 1 && refine(atoms[0], start) && refine(atoms[0], start + length);
  if (!fits) {
    freeze(atoms, "a range of an axis that is a product");
    AxisAtoms result = fresh(length);
    freeze(result, {});
    return result;
  }
  std::vector<AxisAtoms> run;
  int64_t offset = 0;
  for (const AxisAtoms& part : atoms_[find(atoms[0])].parts) {
    if (offset >= start && offset < start + length) run.push_back(part);
    offset += real_product(resolve(part));
  }
  if (run.size() == 1) return run[0];
  AxisAtoms result = fresh(length);
  if (!result.empty()) atoms_[result[0]].parts = std::move(run);
  return result;
}

std::pair<int64_t, int64_t> Classes::small_range(const AxisAtoms& axis, int64_t start,
                                                 int64_t length) const {
  const AxisAtoms atoms = resolve(axis);
  if (length == real_product(atoms)) return {0, small_extent(axis)};
  if (atoms.size() != 1 || atoms_[atoms[0]].frozen || atoms_[atoms[0]].parts.empty())
    return {start, length};
  int64_t offset = 0, small_start = 0, small_length = 0;
  for (const AxisAtoms& part : atoms_[atoms[0]].parts) {
    if (offset < start)
      small_start += small_extent(part);
    else if (offset < start + length)
      small_length += small_extent(part);
    offset += real_product(resolve(part));
  }
  return {small_start, small_length};
}

int64_t Classes::small_extent(const AxisAtoms& axis) const {
  int64_t product = 1;
  for (AtomId atom : resolve(axis)) {
    const Atom& root = atoms_[atom];
    if (root.frozen) {
      product *= root.real;
    } else if (!root.parts.empty()) {
      int64_t sum = 0;
      for (const AxisAtoms& part : root.parts) sum += small_extent(part);
      product *= sum;
    } else {
      product *= root.small > 0 ? root.small : root.real;
    }
  }
  return product;
}

AxisAtoms Classes::load(const AxisAtoms& axis, int64_t extent, const std::vector<uint8_t>& bind,
                        const ir::Launch& launch, const GraphAtoms& atoms) {
  AxisAtoms whole;
  for (uint8_t block_axis : bind)
    whole.insert(whole.end(), atoms.block_axes[block_axis].begin(),
                 atoms.block_axes[block_axis].end());
  if (whole.empty()) return axis;
  AxisAtoms tile = fresh(ir::tile_extent(extent, bind, launch));
  whole.insert(whole.end(), tile.begin(), tile.end());
  unify(axis, whole);
  return tile;
}

GraphAtoms Classes::analyse(const ir::Graph& graph,
                            const std::vector<std::vector<AxisAtoms>>& inputs) {
  GraphAtoms atoms;
  atoms.values.resize(graph.values.size());
  atoms.bodies.resize(graph.ops.size());
  for (const ir::Axis& axis : graph.launch.axes) atoms.block_axes.push_back(fresh(axis.trips));
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    std::vector<AxisAtoms>& own = atoms.values[graph.inputs[i].index];
    if (i < inputs.size()) {
      own = inputs[i];
      continue;
    }
    for (int64_t extent : graph.type(graph.inputs[i]).shape) own.push_back(fresh(extent));
  }
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const ir::Op& op = graph.ops[i];
    if (!op.body) {
      const std::vector<AxisAtoms> axes = analyse_op(graph, op, atoms);
      for (ir::ValueId id : op.results) atoms.values[id.index] = axes;
      continue;
    }
    std::vector<std::vector<AxisAtoms>> operands;
    for (ir::ValueId operand : op.operands) operands.push_back(atoms.values[operand.index]);
    atoms.bodies[i] = std::make_unique<GraphAtoms>(analyse(*op.body, operands));
    for (size_t k = 0; k < op.results.size(); ++k)
      atoms.values[op.results[k].index] = atoms.bodies[i]->values[op.body->outputs[k].index];
  }
  return atoms;
}

AxisAtoms Classes::broadcast(const ir::Graph& graph, const ir::Op& op, const GraphAtoms& atoms,
                             size_t axis) {
  const ir::Shape& shape = graph.type(op.results[0]).shape;
  AxisAtoms result;
  bool is_first = true;
  for (ir::ValueId operand : op.operands) {
    const ir::Shape& own_shape = graph.type(operand).shape;
    if (axis + own_shape.size() < shape.size()) continue;
    const size_t own = axis + own_shape.size() - shape.size();
    if (own_shape[own] != shape[axis] || shape[axis] == 1) continue;
    const AxisAtoms& found = atoms.values[operand.index][own];
    if (is_first)
      result = found;
    else
      unify(result, found);
    is_first = false;
  }
  return result;
}

std::vector<AxisAtoms> Classes::analyse_move(const ir::Graph& graph, const ir::Op& op,
                                             const GraphAtoms& atoms) {
  const std::vector<AxisAtoms>& from = atoms.values[op.operands[0].index];
  const ir::Shape& shape = graph.type(op.results[0]).shape;
  const size_t axis = static_cast<size_t>(op.attrs.axis);
  std::vector<AxisAtoms> result(shape.size());
  switch (op.kind) {
    case ir::OpKind::Transpose:
      for (size_t i = 0; i < shape.size(); ++i)
        result[i] = from[static_cast<size_t>(op.attrs.ints[i])];
      break;
    case ir::OpKind::Reshape:
      return reshape(shape, from);
    case ir::OpKind::Narrow:
      result = from;
      result[axis] = narrow(result[axis], op.attrs.ints[0], op.attrs.ints[1]);
      break;
    case ir::OpKind::Concat: {
      if (op.operands.size() == 1) return from;
      for (size_t i = 0; i < shape.size(); ++i)
        if (i != axis) result[i] = broadcast(graph, op, atoms, i);
      result[axis] = fresh(shape[axis]);
      std::vector<AxisAtoms> parts;
      for (ir::ValueId operand : op.operands) parts.push_back(atoms.values[operand.index][axis]);
      if (!result[axis].empty()) atoms_[result[axis][0]].parts = std::move(parts);
      break;
    }
    case ir::OpKind::Load:
      for (size_t i = 0; i < shape.size(); ++i)
        result[i] = load(from[i], graph.type(op.operands[0]).shape[i], op.attrs.bind[i],
                         graph.launch, atoms);
      break;
    case ir::OpKind::Store:
      for (size_t i = 0; i < shape.size(); ++i) {
        for (uint8_t block_axis : op.attrs.bind[i]) {
          const AxisAtoms& outer = atoms.block_axes[block_axis];
          result[i].insert(result[i].end(), outer.begin(), outer.end());
        }
        result[i].insert(result[i].end(), from[i].begin(), from[i].end());
      }
      break;
    default:
      break;
  }
  return result;
}

std::vector<AxisAtoms> Classes::analyse_op(const ir::Graph& graph, const ir::Op& op,
                                           const GraphAtoms& atoms) {
  const auto axes_of = [&](size_t k) -> const std::vector<AxisAtoms>& {
    return atoms.values[op.operands[k].index];
  };
  const size_t rank = graph.type(op.results[0]).shape.size();
  const size_t axis = static_cast<size_t>(op.attrs.axis);
  std::vector<AxisAtoms> result(rank);
  const auto broadcast_axes = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) result[i] = broadcast(graph, op, atoms, i);
  };
  switch (ir::def(op.kind).form) {
    case ir::Form::Leaf:
    case ir::Form::Block:
      break;
    case ir::Form::Map:
      broadcast_axes(rank);
      break;
    case ir::Form::Contract:
      broadcast_axes(rank - 2);
      unify(axes_of(0)[rank - 1], axes_of(1)[rank - 2]);
      result[rank - 2] = axes_of(0)[rank - 2];
      result[rank - 1] = axes_of(1)[rank - 1];
      break;
    case ir::Form::Reduce:
      result = axes_of(0);
      result[axis].clear();
      break;
    case ir::Form::Accum:
      if (op.kind == ir::OpKind::AccumRescale) {
        broadcast_axes(rank);
        break;
      }
      result = axes_of(0);
      if (op.results.size() > 1) result[axis].clear();
      break;
    case ir::Form::Move:
      return analyse_move(graph, op, atoms);
  }
  return result;
}

}  // namespace mirage::verify
