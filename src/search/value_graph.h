#pragma once
// The hypergraph of values: nodes are useful values of the program (one per meaning and axis
// order), edges every known way to compute one from others. Nothing here knows of tiles: which
// edges a block can use under an assignment of roles is decided by search/phases.h, so one graph
// serves all assignments.

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "search/problem.h"

namespace mirage::search {

using NodeId = Id<struct NodeTag>;

struct Node {
  Dims dims;
  ir::DType dtype = ir::DType::F32;
  ir::ValueId program_value;  // the program's own value of this meaning, if there is one
};

/// Leaves have kind Load (attrs.axis: which program input), Const or Extent (of class attrs.axis);
/// their args are empty.
struct Edge {
  ir::OpKind kind = ir::OpKind::Const;
  ir::Attrs attrs;
  std::vector<NodeId> args;
  NodeId result;
  bool is_own = false;  // an operator of the program itself

  /// A difference that the program does not compute: its operands may nearly cancel where the
  /// program's do not, as in E[x^2] - E[x]^2.
  bool is_new_difference() const { return kind == ir::OpKind::Sub && !is_own; }
};

struct ValueGraph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<NodeId> targets;  // one per Problem::targets

  const Node& node(NodeId id) const { return nodes[id.index]; }
};

/// The program's own values and operators, and nothing else.
ValueGraph own_values(const Problem& problem);

}  // namespace mirage::search
