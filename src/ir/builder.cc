#include "ir/builder.h"

#include <algorithm>
#include <cmath>

#include "ir/infer.h"
#include "ir/structural_hash.h"
#include "util/check.h"

namespace mirage::ir {

namespace {

/// Attributes that the operator does not have go back to their defaults: they must not be part of
/// its identity.
void drop_foreign(Attrs& attrs, const OpDef& row) {
  if (!row.has(AttrKey::Axis)) attrs.axis = 0;
  if (!row.has(AttrKey::Perm) && !row.has(AttrKey::Shape) && !row.has(AttrKey::Start))
    attrs.ints.clear();
  if (!row.has(AttrKey::Value) && !row.has(AttrKey::Lo)) attrs.scalars.clear();
  if (!row.has(AttrKey::Combine)) attrs.combine = Combine::None;
  if (!row.has(AttrKey::Bind)) attrs.bind.clear();
}

}  // namespace

GraphBuilder::GraphBuilder() : GraphBuilder(Level::Kernel) {}
GraphBuilder::GraphBuilder(Level level) { graph_.level = level; }
GraphBuilder::GraphBuilder(const Graph& graph) : graph_(graph), phases_(phases_of(graph)) {
  graph_.outputs.clear();
  graph_.output_strides.clear();
  graph_.outputs_implied = false;
}
GraphBuilder GraphBuilder::thread() { return GraphBuilder(Level::Thread); }

Result<GraphBuilder> GraphBuilder::block(Launch launch) {
  for (const Axis& axis : launch.axes)
    if (axis.trips < 1)
      return bad_input("block axis {}: expected at least one step, found {}", axis.name,
                       axis.trips);
  if (launch.axes.size() > 16) return bad_input("block: more than 16 axes");
  int64_t points = 1;
  for (const Axis& axis : launch.axes)
    if (__builtin_mul_overflow(points, axis.trips, &points) || points > (int64_t{1} << 48))
      return bad_input("block: the product of its axes is too large");
  GraphBuilder builder(Level::Block);
  builder.graph_.launch = std::move(launch);
  return builder;
}

std::string GraphBuilder::label_of(OpKind kind) const {
  return fmt::format("{} %{}", def(kind).name, graph_.values.size());
}

std::string GraphBuilder::display(ValueId id) const {
  const std::string& name = graph_.value(id).name;
  return name.empty() ? fmt::format("%{}", id.index) : fmt::format("%{}", name);
}

Result<ValueId> GraphBuilder::input(TensorType type, std::string name, Strides strides) {
  const std::string label = name.empty() ? fmt::format("input %{}", graph_.values.size())
                                         : fmt::format("input %{}", name);
  MIRAGE_TRY_VOID(checked_element_count(type.shape, label));
  if (!strides.empty() && strides.size() != type.shape.size())
    return bad_input("{}: expected {} strides, found {}", label, type.shape.size(), strides.size());
  if (graph_.level != Level::Kernel && !strides.empty())
    return bad_input("{}: only a kernel's inputs have strides", label);
  if (!strides.empty()) MIRAGE_TRY_VOID(check_reach(type.shape, strides, label));
  if (strides == row_major_strides(type.shape)) strides.clear();
  const ValueId id{graph_.values.size()};
  graph_.values.push_back({std::move(type), OpId{}, 0, std::move(name)});
  graph_.inputs.push_back(id);
  graph_.input_strides.push_back(std::move(strides));
  phases_.push_back(Phase::Invariant);
  return id;
}

Result<void> GraphBuilder::check_phase(OpKind kind, std::span<const ValueId> operands,
                                       const Attrs& attrs, const std::string& label) {
  bool in_loop = false, after_loop = false;
  for (ValueId operand : operands) {
    in_loop |= phases_[operand.index] == Phase::InLoop;
    after_loop |= phases_[operand.index] == Phase::AfterLoop;
  }
  const OpDef& row = def(kind);
  if (kind == OpKind::Store && in_loop)
    return bad_input("{}: stores a value that changes with the loop; accumulate it first", label);
  if (row.form == Form::Accum && after_loop)
    return bad_input("{}: accumulates a value that exists only after the loop", label);
  if (row.form != Form::Accum && in_loop && after_loop)
    return bad_input("{}: mixes a value of the loop with one that exists only after it", label);
  if (kind == OpKind::Load && !graph_.is_input(operands[0]))
    return bad_input("{}: loads {}, which is not an operand of the block", label,
                     display(operands[0]));
  for (ValueId operand : operands) {
    if (kind != OpKind::Load && kind != OpKind::Extent && graph_.is_input(operand))
      return bad_input("{}: reads block operand {} without a load", label, display(operand));
    const Op* producer = graph_.def_of(operand);
    if (producer && producer->kind == OpKind::Store)
      return bad_input("{}: reads {}, the result of a store", label, display(operand));
  }
  // A mean of means is the mean only over equal tiles.
  if (kind == OpKind::Accum && attrs.combine == Combine::Mean && !ragged_loop_.empty())
    return bad_input("{}: mean over {}", label, ragged_loop_);
  return {};
}

void GraphBuilder::note_ragged_loop(const Op& load) {
  for (size_t i = 0; i < load.attrs.bind.size(); ++i) {
    int64_t extent = graph_.type(load.operands[0]).shape[i];
    for (uint8_t axis : load.attrs.bind[i]) {
      const Axis& split = graph_.launch.axes[axis];
      if (split.role == Role::Loop && extent % split.trips != 0 && ragged_loop_.empty())
        ragged_loop_ =
            fmt::format("loop axis {}, which does not divide extent {}", split.name, extent);
      extent = (extent + split.trips - 1) / split.trips;
    }
  }
}

Result<std::vector<ValueId>> GraphBuilder::append(OpKind kind, std::span<const ValueId> operands,
                                                  Attrs attrs, std::vector<TensorType> types,
                                                  GraphPtr body) {
  const OpId op_id{graph_.ops.size()};
  Op op{kind, std::move(attrs), {operands.begin(), operands.end()}, {}, std::move(body)};
  const Phase phase = phase_of(op, graph_.launch, phases_);
  for (size_t i = 0; i < types.size(); ++i) {
    const ValueId id{graph_.values.size()};
    graph_.values.push_back({std::move(types[i]), op_id, static_cast<uint32_t>(i), {}});
    phases_.push_back(phase);
    op.results.push_back(id);
  }
  if (kind == OpKind::Load) note_ragged_loop(op);
  graph_.ops.push_back(std::move(op));
  return graph_.ops.back().results;
}

Result<std::vector<ValueId>> GraphBuilder::add_all(OpKind kind, std::span<const ValueId> operands,
                                                   Attrs attrs) {
  const OpDef& row = def(kind);
  const std::string label = label_of(kind);
  if (kind == OpKind::Block) return bad_input("{}: a block needs a body", label);
  if (!row.exists_at(graph_.level))
    return bad_input("{}: does not exist at {} level", label, name_of(graph_.level));
  std::vector<OperandInfo> infos;
  for (ValueId operand : operands) {
    if (operand.index >= graph_.values.size())
      return bad_input("{}: operand %{} does not exist", label, operand.index);
    const Op* def_op = graph_.def_of(operand);
    infos.push_back({graph_.type(operand), def_op && def(def_op->kind).form == Form::Leaf});
  }
  drop_foreign(attrs, row);
  MIRAGE_TRY(auto types, infer_types(kind, infos, attrs, graph_.launch, label));
  if (graph_.level == Level::Block) MIRAGE_TRY_VOID(check_phase(kind, operands, attrs, label));
  return append(kind, operands, std::move(attrs), std::move(types), nullptr);
}

Result<ValueId> GraphBuilder::add(OpKind kind, std::span<const ValueId> operands, Attrs attrs) {
  MIRAGE_TRY(const auto results, add_all(kind, operands, std::move(attrs)));
  return results[0];
}

Result<ValueId> GraphBuilder::add(OpKind kind, std::initializer_list<ValueId> operands,
                                  Attrs attrs) {
  return add(kind, std::span(operands.begin(), operands.size()), std::move(attrs));
}

Result<ValueId> GraphBuilder::constant(double value) {
  Attrs attrs;
  attrs.scalars = {value};
  return add(OpKind::Const, {}, std::move(attrs));
}

Result<std::vector<ValueId>> GraphBuilder::add_block(GraphPtr body,
                                                     std::span<const ValueId> operands) {
  const std::string label = label_of(OpKind::Block);
  MIRAGE_CHECK(body && body->level == Level::Block, "a block's body is a block graph");
  if (graph_.level != Level::Kernel)
    return bad_input("{}: does not exist at {} level", label, name_of(graph_.level));
  if (operands.size() != body->inputs.size())
    return bad_input("{}: expected {} operands, found {}", label, body->inputs.size(),
                     operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].index >= graph_.values.size())
      return bad_input("{}: operand %{} does not exist", label, operands[i].index);
    const TensorType& expected = body->type(body->inputs[i]);
    if (graph_.type(operands[i]) != expected)
      return bad_input("{}: operand {} should be {}, found {}", label, i, to_string(expected),
                       to_string(graph_.type(operands[i])));
  }
  std::vector<TensorType> types;
  for (ValueId output : body->outputs) types.push_back(body->type(output));
  return append(OpKind::Block, operands, {}, std::move(types), std::move(body));
}

Result<GraphPtr> GraphBuilder::finish(std::span<const ValueId> outputs,
                                      std::span<const Strides> output_strides) const {
  Graph graph = graph_;
  const std::string_view noun = graph.level == Level::Block ? "block" : "graph";
  const std::string what =
      graph.name.empty() ? std::string(noun) : fmt::format("{} @{}", noun, graph.name);
  if (graph.ops.empty()) return bad_input("{}: has no operators", what);
  graph.outputs.assign(outputs.begin(), outputs.end());
  if (graph.level == Level::Block) {
    graph.outputs.clear();
    for (const Op& op : graph.ops)
      if (op.kind == OpKind::Store) graph.outputs.push_back(op.results[0]);
    if (graph.outputs.empty()) return bad_input("{}: stores nothing", what);
  } else if (graph.outputs.empty()) {
    std::vector<bool> read(graph.values.size(), false);
    for (const Op& op : graph.ops)
      for (ValueId operand : op.operands) read[operand.index] = true;
    for (const Op& op : graph.ops)
      for (ValueId result : op.results)
        if (!read[result.index]) graph.outputs.push_back(result);
    graph.outputs_implied = true;
  }
  for (ValueId output : graph.outputs)
    if (output.index >= graph.values.size())
      return bad_input("{}: output %{} does not exist", what, output.index);
  graph.output_strides.assign(output_strides.begin(), output_strides.end());
  graph.output_strides.resize(graph.outputs.size());
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    Strides& strides = graph.output_strides[i];
    const Shape& shape = graph.type(graph.outputs[i]).shape;
    if (strides.empty()) continue;
    if (strides.size() != shape.size())
      return bad_input("{}: output {}: expected {} strides, found {}", what, i, shape.size(),
                       strides.size());
    MIRAGE_TRY_VOID(check_disjoint(shape, strides, fmt::format("{}: output {}", what, i)));
    if (strides == row_major_strides(shape)) strides.clear();
  }
  graph.hash = structural_hash(graph);
  return std::make_shared<const Graph>(std::move(graph));
}

}  // namespace mirage::ir
