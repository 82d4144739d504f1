#include "verify/multiplicity.h"

#include <map>
#include <optional>
#include <tuple>

#include "ir/builder.h"

namespace mirage::verify {
namespace {

using ir::GraphBuilder;
using ir::OpKind;
using ir::ValueId;

ir::Attrs with_axis(size_t axis) {
  ir::Attrs attrs;
  attrs.axis = static_cast<int64_t>(axis);
  return attrs;
}

ir::Attrs with_ints(std::vector<int64_t> ints) {
  ir::Attrs attrs;
  attrs.ints = std::move(ints);
  return attrs;
}

/// Weights along a list of atoms; in a body that of one step of a loop axis, or all of them.
struct Key {
  AxisAtoms atoms;
  std::optional<uint8_t> step;
  bool operator<(const Key& other) const {
    return std::tie(atoms, step) < std::tie(other.atoms, other.step);
  }
};
using Vectors = std::map<Key, ValueId>;

class Multiplier {
 public:
  Multiplier(const Classes& classes, const std::vector<AxisAtoms>& groups)
      : classes_(classes), groups_(groups) {}

  Result<ir::GraphPtr> run(const ir::Graph& graph, const GraphAtoms& atoms) {
    GraphBuilder builder;
    std::vector<ValueId> values(graph.values.size());
    MIRAGE_TRY_VOID(inputs(builder, graph, values));
    for (const AxisAtoms& group : groups_) {
      ir::TensorType type{ir::DType::F64, {classes_.small_extent({group[0]})}};
      MIRAGE_TRY(const ValueId id, builder.input(std::move(type)));
      for (AtomId atom : group) vectors_[Key{{atom}, {}}] = id;
    }
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      const ir::Op& op = graph.ops[i];
      std::vector<ValueId> results;
      if (op.body) {
        MIRAGE_TRY(results, block(builder, op, *atoms.bodies[i], values));
      } else {
        for (const Key& key : keys(graph, op, atoms)) MIRAGE_TRY_VOID(vector(builder, key.atoms));
        MIRAGE_TRY(results, weighted(builder, graph, op, atoms, values, vectors_));
      }
      for (size_t k = 0; k < results.size(); ++k) values[op.results[k].index] = results[k];
    }
    std::vector<ValueId> outputs;
    for (ValueId output : graph.outputs) outputs.push_back(values[output.index]);
    return builder.finish(outputs);
  }

 private:
  static Result<void> inputs(GraphBuilder& builder, const ir::Graph& graph,
                             std::vector<ValueId>& values) {
    for (ValueId input : graph.inputs) {
      MIRAGE_TRY(values[input.index], builder.input({ir::DType::F64, graph.type(input).shape}));
    }
    return {};
  }

  /// Weights along these atoms as a kernel-level vector.
  Result<ValueId> vector(GraphBuilder& builder, const AxisAtoms& axis) {
    const AxisAtoms atoms = classes_.resolve(axis);
    const Key key{atoms, {}};
    if (const auto at = vectors_.find(key); at != vectors_.end()) return at->second;
    ValueId result;
    if (vectors_.empty()) return unsupported("no class has more than one element");
    if (atoms.empty()) {
      const ValueId any = vectors_.begin()->second;
      MIRAGE_TRY(const ValueId total, builder.add(OpKind::Sum, {any}, with_axis(0)));
      MIRAGE_TRY(const ValueId zero, builder.constant(0));
      MIRAGE_TRY(const ValueId none, builder.add(OpKind::Mul, {total, zero}));
      MIRAGE_TRY(const ValueId one, builder.constant(1));
      MIRAGE_TRY(result, builder.add(OpKind::Add, {none, one}));
    } else if (atoms.size() == 1) {
      std::vector<ValueId> parts;
      for (const AxisAtoms& part : classes_.parts(atoms[0])) {
        MIRAGE_TRY(const ValueId id, vector(builder, part));
        parts.push_back(id);
      }
      MIRAGE_TRY(result, builder.add(OpKind::Concat, parts, with_axis(0)));
    } else {
      MIRAGE_TRY(ValueId major, vector(builder, {atoms[0]}));
      MIRAGE_TRY(const ValueId minor, vector(builder, {atoms.begin() + 1, atoms.end()}));
      const int64_t rows = builder.type(major).shape[0], columns = builder.type(minor).shape[0];
      MIRAGE_TRY(major, builder.add(OpKind::Reshape, {major}, with_ints({rows, 1})));
      MIRAGE_TRY(result, builder.add(OpKind::Mul, {major, minor}));
      MIRAGE_TRY(result, builder.add(OpKind::Reshape, {result}, with_ints({rows * columns})));
    }
    vectors_[key] = result;
    return result;
  }

  /// The weights that an operator needs.
  std::vector<Key> keys(const ir::Graph& graph, const ir::Op& op, const GraphAtoms& atoms) const {
    std::vector<Key> result;
    const auto need = [&](const AxisAtoms& axis, std::optional<uint8_t> step = {}) {
      const AxisAtoms resolved = classes_.resolve(axis);
      if (!resolved.empty()) result.push_back({resolved, step});
    };
    const auto axes = [&](size_t k) { return atoms.values[op.operands[k].index]; };
    const ir::Form form = ir::def(op.kind).form;
    if (form == ir::Form::Contract) {
      need(axes(0).back());
    } else if (op.kind == OpKind::Extent ||
               (form == ir::Form::Reduce && ir::def(op.kind).combine != ir::Combine::Max)) {
      need(axes(0)[static_cast<size_t>(op.attrs.axis)]);
    } else if (form == ir::Form::Accum && op.kind != OpKind::RunningMax &&
               op.kind != OpKind::RunningGauge && op.attrs.combine != ir::Combine::Max) {
      for (size_t i = 0; i < graph.launch.axes.size(); ++i) {
        if (graph.launch.axes[i].role != ir::Role::Loop) continue;
        need(atoms.block_axes[i], static_cast<uint8_t>(i));
        if (op.attrs.combine == ir::Combine::Mean) need(atoms.block_axes[i]);
      }
    }
    return result;
  }

  Result<std::vector<ValueId>> block(GraphBuilder& outer, const ir::Op& op, const GraphAtoms& atoms,
                                     const std::vector<ValueId>& outside) {
    const ir::Graph& graph = *op.body;
    std::vector<ValueId> operands;
    for (ValueId operand : op.operands) operands.push_back(outside[operand.index]);
    MIRAGE_TRY(GraphBuilder builder, GraphBuilder::block(graph.launch));
    std::vector<ValueId> values(graph.values.size());
    MIRAGE_TRY_VOID(inputs(builder, graph, values));
    Vectors vectors;
    for (const ir::Op& inner : graph.ops)
      for (const Key& key : keys(graph, inner, atoms)) {
        if (vectors.count(key) != 0) continue;
        MIRAGE_TRY(const ValueId whole, vector(outer, key.atoms));
        operands.push_back(whole);
        MIRAGE_TRY(vectors[key], builder.input(outer.type(whole)));
      }
    for (auto& [key, id] : vectors) {
      ir::Attrs attrs;
      attrs.bind.resize(1);
      if (key.step) attrs.bind[0].push_back(*key.step);
      MIRAGE_TRY(id, builder.add(OpKind::Load, {id}, std::move(attrs)));
    }
    for (const ir::Op& inner : graph.ops) {
      MIRAGE_TRY(const std::vector<ValueId> results,
                 weighted(builder, graph, inner, atoms, values, vectors));
      for (size_t k = 0; k < results.size(); ++k) values[inner.results[k].index] = results[k];
    }
    MIRAGE_TRY(ir::GraphPtr body, builder.finish());
    return outer.add_block(std::move(body), operands);
  }

  /// The operator over weighted summands.
  Result<std::vector<ValueId>> weighted(GraphBuilder& builder, const ir::Graph& graph,
                                        const ir::Op& op, const GraphAtoms& atoms,
                                        const std::vector<ValueId>& values,
                                        const Vectors& vectors) const {
    std::vector<ValueId> operands;
    for (ValueId operand : op.operands) operands.push_back(values[operand.index]);
    const std::vector<Key> needed = keys(graph, op, atoms);
    if (needed.empty()) return builder.add_all(op.kind, operands, op.attrs);
    ir::Attrs attrs = op.attrs;
    OpKind kind = op.kind;
    const ir::Form form = ir::def(kind).form;
    const size_t rank = graph.type(op.operands[0]).shape.size();
    const size_t axis = form == ir::Form::Reduce ? static_cast<size_t>(op.attrs.axis)
                                                 : std::max<size_t>(rank, 1) - 1;
    std::vector<ValueId> counts;
    for (const Key& key : needed) {
      const ValueId weights = vectors.at(key);
      const bool is_mean = kind == OpKind::Mean || attrs.combine == ir::Combine::Mean;
      if (op.kind == OpKind::Extent || (is_mean && !key.step)) {
        MIRAGE_TRY(const ValueId count, builder.add(OpKind::Sum, {weights}, with_axis(0)));
        counts.push_back(count);
        if (form != ir::Form::Reduce) continue;
      }
      ValueId aligned = weights;
      if (form == ir::Form::Reduce && axis + 1 < rank) {
        ir::Shape shape(rank - axis, 1);
        shape[0] = builder.type(weights).shape[0];
        MIRAGE_TRY(aligned, builder.add(OpKind::Reshape, {weights}, with_ints(std::move(shape))));
      }
      MIRAGE_TRY(operands[0], builder.add(OpKind::Mul, {operands[0], aligned}));
    }
    if (op.kind == OpKind::Extent) return counts;
    if (kind == OpKind::Mean) kind = OpKind::Sum;
    if (attrs.combine == ir::Combine::Mean) attrs.combine = ir::Combine::Sum;
    MIRAGE_TRY(std::vector<ValueId> results, builder.add_all(kind, operands, std::move(attrs)));
    for (ValueId count : counts) {
      MIRAGE_TRY(results[0], builder.add(OpKind::Div, {results[0], count}));
    }
    return results;
  }

  const Classes& classes_;
  const std::vector<AxisAtoms>& groups_;
  Vectors vectors_;  // of the kernel graph
};

}  // namespace

Result<ir::GraphPtr> with_multiplicities(const ir::Graph& graph, const GraphAtoms& atoms,
                                         const Classes& classes,
                                         const std::vector<AxisAtoms>& groups) {
  return Multiplier(classes, groups).run(graph, atoms);
}

}  // namespace mirage::verify
