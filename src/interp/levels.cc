#include "interp/levels.h"

#include <algorithm>
#include <span>

#include "ir/ops/bodies.h"

namespace mirage::interp {
namespace {

/// A value is the number of exponentials above the operands of one operator.
struct DepthDomain {
  using Value = int;
  static int constant(double) { return 0; }
  static int add(int a, int b) { return std::max(a, b); }
  static int sub(int a, int b) { return std::max(a, b); }
  static int mul(int a, int b) { return std::max(a, b); }
  static int div(int a, int b) { return std::max(a, b); }
  static int maximum(int a, int b) { return std::max(a, b); }
  static int minimum(int a, int b) { return std::max(a, b); }
  static int pow(int a, int b) { return std::max(a, b); }
  static int neg(int a) { return a; }
  static int apply(ir::Fn fn, int a) { return fn == ir::Fn::Exp ? a + 1 : a; }
};

}  // namespace

int exp_depth(ir::OpKind kind) {
  const ir::OpDef& row = ir::def(kind);
  if (row.form != ir::Form::Map) return 0;
  DepthDomain domain;
  ir::Attrs attrs;
  attrs.scalars = {0, 0};
  const int args[2] = {0, 0};
  return ir::eval_map(kind, domain, attrs,
                      std::span<const int>(args, static_cast<size_t>(row.arity)));
}

std::vector<int> needed_levels(const ir::Graph& graph, std::vector<int> outputs) {
  std::vector<int> levels(graph.values.size(), 1);
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    int& level = levels[graph.outputs[i].index];
    level = std::max(level, i < outputs.size() ? outputs[i] : 1);
  }
  for (size_t i = graph.ops.size(); i-- > 0;) {
    const ir::Op& op = graph.ops[i];
    int level = 1;
    for (ir::ValueId result : op.results) level = std::max(level, levels[result.index]);
    for (ir::ValueId result : op.results) levels[result.index] = level;  // pairs share one
    std::vector<int> inner;
    if (op.body) {
      std::vector<int> wanted;
      for (ir::ValueId result : op.results) wanted.push_back(levels[result.index]);
      inner = needed_levels(*op.body, wanted);
    }
    for (size_t k = 0; k < op.operands.size(); ++k) {
      int& operand = levels[op.operands[k].index];
      operand =
          std::max(operand, op.body ? inner[op.body->inputs[k].index] : level + exp_depth(op.kind));
    }
  }
  return levels;
}

int chain_length(const ir::Graph& graph) {
  int length = 1;
  for (int level : needed_levels(graph)) length = std::max(length, level);
  return length;
}

}  // namespace mirage::interp
