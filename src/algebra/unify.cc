#include "algebra/unify.h"

#include <algorithm>

namespace mirage::algebra {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

/// Union-find over atoms that may be refined into lists of finer ones.
class Solver {
 public:
  using Term = std::vector<int>;

  Term fresh(int64_t extent) {
    if (extent == 1) return {};
    atoms_.push_back({extent, -1, {}, false});
    return {static_cast<int>(atoms_.size() - 1)};
  }

  Result<void> equate(Term a, Term b, const std::string& where) {
    // Work lists from the back: reversed, so that refinement replaces the head in place.
    std::reverse(a.begin(), a.end());
    std::reverse(b.begin(), b.end());
    while (!a.empty() && !b.empty()) {
      int x = find(a.back()), y = find(b.back());
      a.pop_back();
      b.pop_back();
      if (x == y) continue;
      if (atoms_[index(x)].extent == atoms_[index(y)].extent) {
        MIRAGE_TRY_VOID(merge(x, y, where));
        continue;
      }
      const bool is_x_larger = atoms_[index(x)].extent > atoms_[index(y)].extent;
      int& large = is_x_larger ? x : y;
      int& small = is_x_larger ? y : x;
      Term& large_rest = is_x_larger ? a : b;
      Term& small_rest = is_x_larger ? b : a;
      if (atoms_[index(large)].parts.empty()) {
        const int64_t extent = atoms_[index(large)].extent, part = atoms_[index(small)].extent;
        if (extent % part != 0) return no_refinement(extent, part, where);
        const Term rest = fresh(extent / part);
        Term parts{small};
        parts.insert(parts.end(), rest.begin(), rest.end());
        atoms_[index(large)].parts = std::move(parts);
      }
      if (atoms_[index(large)].is_ragged)
        return unsupported("{}: an axis of extent {} is split in two ways, one of them uneven",
                           where, atoms_[index(large)].extent);
      const Term& parts = atoms_[index(large)].parts;
      large_rest.insert(large_rest.end(), parts.rbegin(), parts.rend());
      small_rest.push_back(small);
    }
    if (!a.empty() || !b.empty()) return unsupported("{}: extents do not match", where);
    return {};
  }

  /// Whether equate would find a common refinement of plain extents (reshapes are checked first).
  bool is_refinable(const Term& a, const Term& b) {
    std::vector<int64_t> left = extents(a), right = extents(b);
    std::reverse(left.begin(), left.end());
    std::reverse(right.begin(), right.end());
    while (!left.empty() && !right.empty()) {
      int64_t x = left.back(), y = right.back();
      left.pop_back();
      right.pop_back();
      if (x == y) continue;
      if (x > y) {
        if (x % y != 0) return false;
        left.push_back(x / y);
      } else {
        if (y % x != 0) return false;
        right.push_back(y / x);
      }
    }
    return left.empty() && right.empty();
  }

  /// whole = axis * rest, where rest has ceil(extent / trips) elements.
  Result<void> split(const Term& whole, int64_t extent, const Term& axis, int64_t trips,
                     const Term& rest, const std::string& where) {
    const int64_t tile = (extent + trips - 1) / trips;
    Term parts = axis;
    parts.insert(parts.end(), rest.begin(), rest.end());
    if (tile * trips == extent) return equate(whole, parts, where);
    if (whole.size() != 1)
      return unsupported("{}: an axis of extent {} is split in two ways, one of them uneven", where,
                         extent);
    const int atom = find(whole[0]);
    if (atoms_[index(atom)].parts.empty()) {
      atoms_[index(atom)].parts = std::move(parts);
      atoms_[index(atom)].is_ragged = true;
      return {};
    }
    if (!atoms_[index(atom)].is_ragged)
      return unsupported("{}: an axis of extent {} is split in two ways, one of them uneven", where,
                         extent);
    return equate(atoms_[index(atom)].parts, std::move(parts), where);
  }

  AtomList nodes(const Term& term, IndexTree& tree) {
    AtomList result;
    for (int raw : term) {
      const int atom = find(raw);
      if (!atoms_[index(atom)].parts.empty()) {
        const Term parts = atoms_[index(atom)].parts;
        const AtomList inner = nodes(parts, tree);
        result.insert(result.end(), inner.begin(), inner.end());
      } else {
        result.push_back(node(atom, tree));
      }
    }
    return result;
  }

  std::vector<Ragged> ragged(IndexTree& tree) {
    std::vector<Ragged> result;
    for (size_t i = 0; i < atoms_.size(); ++i) {
      if (!atoms_[i].is_ragged || atoms_[i].forward >= 0) continue;
      // The axis is one atom unless a list of finer ones replaced it; the tile is the rest.
      const Term parts = atoms_[i].parts;
      result.push_back({nodes({parts[0]}, tree), nodes({parts.begin() + 1, parts.end()}, tree),
                        node(static_cast<int>(i), tree)});
    }
    return result;
  }

 private:
  struct AtomInfo {
    int64_t extent;
    int forward;  // -1: itself
    Term parts;   // empty: not refined
    bool is_ragged;
    Node node = kNoNode;
  };

  static size_t index(int i) { return static_cast<size_t>(i); }

  static tl::unexpected<Error> no_refinement(int64_t a, int64_t b, const std::string& where) {
    return unsupported("{}: splits of extents {} and {} have no common refinement", where, a, b);
  }

  int find(int i) {
    while (atoms_[index(i)].forward >= 0) i = atoms_[index(i)].forward;
    return i;
  }

  std::vector<int64_t> extents(const Term& term) {
    std::vector<int64_t> result;
    for (int raw : term) {
      const int atom = find(raw);
      if (atoms_[index(atom)].parts.empty() || atoms_[index(atom)].is_ragged) {
        result.push_back(atoms_[index(atom)].extent);
      } else {
        const std::vector<int64_t> inner = extents(atoms_[index(atom)].parts);
        result.insert(result.end(), inner.begin(), inner.end());
      }
    }
    return result;
  }

  Result<void> merge(int x, int y, const std::string& where) {
    const bool both = !atoms_[index(x)].parts.empty() && !atoms_[index(y)].parts.empty();
    if (both) {
      if (atoms_[index(x)].is_ragged != atoms_[index(y)].is_ragged)
        return unsupported("{}: an axis of extent {} is split in two ways, one of them uneven",
                           where, atoms_[index(x)].extent);
      MIRAGE_TRY_VOID(equate(atoms_[index(x)].parts, atoms_[index(y)].parts, where));
    }
    if (atoms_[index(x)].parts.empty())
      atoms_[index(x)].forward = y;
    else
      atoms_[index(y)].forward = x;
    return {};
  }

  Node node(int atom, IndexTree& tree) {
    AtomInfo& info = atoms_[index(atom)];
    if (info.node == kNoNode) {
      const size_t n = named_++;
      std::string name(1, static_cast<char>('a' + n % 26));
      if (n >= 26) name += std::to_string(n / 26);
      info.node = tree.root(std::move(name), info.extent);
    }
    return info.node;
  }

  std::vector<AtomInfo> atoms_;
  size_t named_ = 0;
};

using Term = Solver::Term;
using TermDims = std::vector<Term>;

/// The terms of one graph, before nodes exist.
struct Draft {
  std::vector<TermDims> values;
  std::vector<Term> axes;
  std::vector<std::vector<Draft>> blocks;
  std::vector<bool> is_opaque;
};

Term joined(const TermDims& dims) {
  Term result;
  for (const Term& dim : dims) result.insert(result.end(), dim.begin(), dim.end());
  return result;
}

class Drafter {
 public:
  Drafter(Solver& solver, const Graph& graph) : solver_(solver), graph_(graph) {}

  Result<Draft> run(std::span<const TermDims> inputs) {
    draft_.values.resize(graph_.values.size());
    draft_.blocks.resize(graph_.ops.size());
    draft_.is_opaque.resize(graph_.ops.size());
    for (const ir::Axis& axis : graph_.launch.axes)
      draft_.axes.push_back(solver_.fresh(axis.trips));
    for (size_t i = 0; i < graph_.inputs.size(); ++i) dims(graph_.inputs[i]) = inputs[i];
    for (size_t i = 0; i < graph_.ops.size(); ++i) MIRAGE_TRY_VOID(visit(i));
    return std::move(draft_);
  }

 private:
  TermDims& dims(ValueId id) { return draft_.values[id.index]; }
  const ir::Shape& shape(ValueId id) const { return graph_.type(id).shape; }

  Result<void> fresh(ValueId id) {
    for (int64_t extent : shape(id)) {
      if (extent == 0) return unsupported("%{}: empty axis", id.index);
      dims(id).push_back(solver_.fresh(extent));
    }
    return {};
  }

  /// Axis `at` of both, unless one of them has one element there.
  Result<void> equate(ValueId a, size_t a_axis, ValueId b, size_t b_axis,
                      const std::string& where) {
    if (shape(a)[a_axis] == 1 || shape(b)[b_axis] == 1) return {};
    return solver_.equate(dims(a)[a_axis], dims(b)[b_axis], where);
  }

  Result<void> broadcast(const Op& op, const std::string& where) {
    for (ValueId result : op.results)
      for (ValueId operand : op.operands) {
        if (shape(operand).size() > shape(result).size()) continue;
        const size_t offset = shape(result).size() - shape(operand).size();
        for (size_t i = 0; i < shape(operand).size(); ++i)
          MIRAGE_TRY_VOID(equate(operand, i, result, offset + i, where));
      }
    return {};
  }

  Result<void> bind(ValueId whole, ValueId tile, const ir::Bind& bind, const std::string& where) {
    for (size_t i = 0; i < shape(whole).size(); ++i) {
      Term rest = dims(whole)[i];
      int64_t extent = shape(whole)[i];
      for (uint8_t axis : bind[i]) {
        const int64_t trips = graph_.launch.axes[axis].trips;
        const int64_t part = (extent + trips - 1) / trips;
        const Term inner = solver_.fresh(part);
        MIRAGE_TRY_VOID(solver_.split(rest, extent, draft_.axes[axis], trips, inner, where));
        rest = inner;
        extent = part;
      }
      MIRAGE_TRY_VOID(solver_.equate(rest, dims(tile)[i], where));
    }
    return {};
  }

  Result<void> visit(size_t i) {
    const Op& op = graph_.ops[i];
    const std::string where =
        fmt::format("{} %{}", ir::def(op.kind).name, op.results.empty() ? 0 : op.results[0].index);
    for (ValueId result : op.results) MIRAGE_TRY_VOID(fresh(result));
    if (op.kind == OpKind::Block) {
      std::vector<TermDims> inputs;
      for (ValueId operand : op.operands) inputs.push_back(dims(operand));
      Drafter body(solver_, *op.body);
      MIRAGE_TRY(Draft inner, body.run(inputs));
      for (size_t j = 0; j < op.results.size(); ++j)
        for (size_t axis = 0; axis < dims(op.results[j]).size(); ++axis)
          MIRAGE_TRY_VOID(solver_.equate(dims(op.results[j])[axis],
                                         inner.values[op.body->outputs[j].index][axis], where));
      draft_.blocks[i].push_back(std::move(inner));
      return {};
    }
    if (op.operands.empty()) return {};
    const ValueId x = op.operands[0], y = op.results[0];
    const size_t axis = static_cast<size_t>(op.attrs.axis);
    switch (op.kind) {
      case OpKind::Extent:
        return {};
      case OpKind::MatMul: {
        const ValueId w = op.operands[1];
        const size_t rank = shape(y).size();
        for (size_t j = 0; j + 2 < rank; ++j) {
          MIRAGE_TRY_VOID(equate(x, j, y, j, where));
          MIRAGE_TRY_VOID(equate(w, j, y, j, where));
        }
        MIRAGE_TRY_VOID(equate(x, rank - 2, y, rank - 2, where));
        MIRAGE_TRY_VOID(equate(w, rank - 1, y, rank - 1, where));
        return equate(x, rank - 1, w, rank - 2, where);
      }
      case OpKind::Transpose:
        for (size_t j = 0; j < shape(y).size(); ++j)
          MIRAGE_TRY_VOID(equate(x, static_cast<size_t>(op.attrs.ints[j]), y, j, where));
        return {};
      case OpKind::Reshape: {
        const Term from = joined(dims(x)), to = joined(dims(y));
        draft_.is_opaque[i] = !solver_.is_refinable(from, to);
        if (draft_.is_opaque[i]) return {};
        return solver_.equate(from, to, where);
      }
      case OpKind::Concat:
      case OpKind::Narrow:
        for (ValueId operand : op.operands)
          for (size_t j = 0; j < shape(y).size(); ++j)
            if (j != axis || shape(operand)[j] == shape(y)[j])
              MIRAGE_TRY_VOID(equate(operand, j, y, j, where));
        return {};
      case OpKind::Load:
        return bind(x, y, op.attrs.bind, where);
      case OpKind::Store:
        return bind(y, x, op.attrs.bind, where);
      default:  // Map, Reduce and Accum: axis by axis where both have elements
        return broadcast(op, where);
    }
  }

  Solver& solver_;
  const Graph& graph_;
  Draft draft_;
};

GraphIndex finished(Solver& solver, IndexTree& tree, const Draft& draft) {
  GraphIndex result;
  for (const TermDims& dims : draft.values) {
    Dims lists;
    for (const Term& dim : dims) lists.push_back(solver.nodes(dim, tree));
    result.values.push_back(std::move(lists));
  }
  for (const Term& axis : draft.axes) result.axes.push_back(solver.nodes(axis, tree));
  for (const auto& block : draft.blocks) {
    result.blocks.emplace_back();
    for (const Draft& body : block) result.blocks.back().push_back(finished(solver, tree, body));
  }
  result.is_opaque = draft.is_opaque;
  return result;
}

}  // namespace

AtomList flattened(const Dims& dims) {
  AtomList result;
  for (const AtomList& dim : dims) result.insert(result.end(), dim.begin(), dim.end());
  return result;
}

Result<Unified> unify(IndexTree& index, std::span<const Graph* const> graphs) {
  Solver solver;
  Unified result;
  if (graphs.empty()) return result;
  std::vector<TermDims> inputs;
  for (ValueId input : graphs[0]->inputs) {
    inputs.emplace_back();
    for (int64_t extent : graphs[0]->type(input).shape) {
      if (extent == 0) return unsupported("input %{}: empty axis", input.index);
      inputs.back().push_back(solver.fresh(extent));
    }
  }
  std::vector<Draft> drafts;
  for (const Graph* graph : graphs) {
    if (graph->inputs.size() != inputs.size())
      return bad_input("the graphs have {} and {} inputs", inputs.size(), graph->inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (graph->type(graph->inputs[i]).shape != graphs[0]->type(graphs[0]->inputs[i]).shape)
        return bad_input("input {} has shape {} in one graph and {} in the other", i,
                         ir::to_string(graphs[0]->type(graphs[0]->inputs[i]).shape),
                         ir::to_string(graph->type(graph->inputs[i]).shape));
    Drafter drafter(solver, *graph);
    MIRAGE_TRY(Draft draft, drafter.run(inputs));
    drafts.push_back(std::move(draft));
  }
  for (const Draft& draft : drafts) result.graphs.push_back(finished(solver, index, draft));
  result.ragged = solver.ragged(index);
  return result;
}

}  // namespace mirage::algebra
