#include "search/value_graph.h"

#include <algorithm>

namespace mirage::search {
namespace {

using ir::OpKind;

/// The leaf node of this kind and attributes, made at first use.
NodeId leaf(ValueGraph& graph, OpKind kind, ir::Attrs attrs, Node node) {
  for (const Edge& edge : graph.edges)
    if (edge.args.empty() && edge.kind == kind && edge.attrs == attrs) return edge.result;
  const NodeId id{graph.nodes.size()};
  graph.nodes.push_back(std::move(node));
  graph.edges.push_back({kind, std::move(attrs), {}, id, true});
  return id;
}

}  // namespace

ValueGraph own_values(const Problem& problem) {
  const ir::Graph& program = problem.program;
  ValueGraph graph;
  std::vector<NodeId> node_of(program.values.size());
  const auto make_node = [&](ir::ValueId id) {
    return Node{problem.dims_of(id), program.type(id).dtype, id};
  };
  for (size_t i = 0; i < program.inputs.size(); ++i) {
    ir::Attrs attrs;
    attrs.axis = static_cast<int64_t>(i);
    node_of[program.inputs[i].index] =
        leaf(graph, OpKind::Load, attrs, make_node(program.inputs[i]));
  }
  for (const ir::Op& op : program.ops) {
    const ir::ValueId result = op.results[0];
    if (op.kind == OpKind::Const) {
      node_of[result.index] = leaf(graph, op.kind, op.attrs, make_node(result));
      continue;
    }
    const auto extent_leaf = [&](ir::ValueId value, int64_t axis) {
      const ClassId id = problem.dims_of(value)[static_cast<size_t>(axis)];
      ir::Attrs attrs;
      if (id == kNoClass) {
        attrs.scalars = {1.0};
        return leaf(graph, OpKind::Const, attrs, Node{{}, ir::DType::F64, {}});
      }
      attrs.axis = id;
      return leaf(graph, OpKind::Extent, attrs, Node{{}, ir::DType::F64, {}});
    };
    if (op.kind == OpKind::Extent) {
      node_of[result.index] = extent_leaf(op.operands[0], op.attrs.axis);
      continue;
    }
    Edge edge{op.kind, op.attrs, {}, NodeId{graph.nodes.size()}, true};
    for (ir::ValueId operand : op.operands) edge.args.push_back(node_of[operand.index]);
    node_of[result.index] = edge.result;
    graph.nodes.push_back(make_node(result));
    if (op.kind == OpKind::Mean) {  // as a sum, which a loop can share out, and a division
      const NodeId sum{graph.nodes.size()};
      graph.nodes.push_back(graph.node(edge.result));
      graph.nodes.back().program_value = {};
      graph.edges.push_back({OpKind::Sum, op.attrs, edge.args, sum});
      const NodeId extent = extent_leaf(op.operands[0], op.attrs.axis);
      edge = {OpKind::Div, {}, {sum, extent}, edge.result, true};
    }
    graph.edges.push_back(std::move(edge));
  }
  for (ir::ValueId target : problem.targets) graph.targets.push_back(node_of[target.index]);
  return graph;
}

}  // namespace mirage::search
