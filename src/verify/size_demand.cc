#include "verify/size_demand.h"

#include <algorithm>

namespace mirage::verify {
namespace {

BinderCounts larger(const BinderCounts& a, const BinderCounts& b) {
  BinderCounts result = a;
  for (const auto& [atom, count] : b) result[atom] = std::max(result[atom], count);
  return result;
}

BinderCounts sum(const BinderCounts& a, const BinderCounts& b) {
  BinderCounts result = a;
  for (const auto& [atom, count] : b) result[atom] += count;
  return result;
}

class Analysis {
 public:
  Analysis(const Classes& classes, SizeDemand& demand) : classes_(classes), demand_(demand) {}

  std::vector<QuotientBinders> run(const ir::Graph& graph, const GraphAtoms& atoms,
                                   const std::vector<QuotientBinders>& inputs) {
    std::vector<QuotientBinders> values(graph.values.size());
    for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs[i].index] = inputs[i];
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      const ir::Op& op = graph.ops[i];
      std::vector<QuotientBinders> operands;
      for (ir::ValueId operand : op.operands) operands.push_back(values[operand.index]);
      if (op.body) {
        const std::vector<QuotientBinders> inner = run(*op.body, *atoms.bodies[i], operands);
        for (size_t k = 0; k < op.results.size(); ++k)
          values[op.results[k].index] = inner[op.body->outputs[k].index];
        continue;
      }
      const QuotientBinders result = of(graph, op, atoms, operands);
      for (ir::ValueId id : op.results) values[id.index] = result;
    }
    return values;
  }

  /// A value that starts a new family, or an output.
  void require(const QuotientBinders& value, const std::vector<AxisAtoms>& axes) {
    BinderCounts free;
    for (const AxisAtoms& axis : axes)
      for (AtomId atom : classes_.resolve(axis)) ++free[atom];
    demand_.top = larger(demand_.top, sum(value.top, free));
    demand_.bottom = larger(demand_.bottom, value.bottom);
  }

 private:
  QuotientBinders of(const ir::Graph& graph, const ir::Op& op, const GraphAtoms& atoms,
                     const std::vector<QuotientBinders>& in) {
    const auto axes = [&](size_t k) { return atoms.values[op.operands[k].index]; };
    switch (ir::def(op.kind).form) {
      case ir::Form::Leaf:
      case ir::Form::Block:
        return {};
      case ir::Form::Move:
        if (op.kind == ir::OpKind::Concat) {
          QuotientBinders result;
          for (const QuotientBinders& part : in)
            result = {larger(result.top, part.top), larger(result.bottom, part.bottom)};
          return result;
        }
        return in[0];
      case ir::Form::Reduce:
        return bound(in[0], axes(0)[static_cast<size_t>(op.attrs.axis)]);
      case ir::Form::Contract: {
        const QuotientBinders product = {sum(in[0].top, in[1].top),
                                         sum(in[0].bottom, in[1].bottom)};
        return bound(product, axes(0).back());
      }
      case ir::Form::Accum: {
        QuotientBinders result = in[0];
        if (in.size() > 1) result = {sum(in[0].top, in[1].top), sum(in[0].bottom, in[1].bottom)};
        for (size_t i = 0; i < graph.launch.axes.size(); ++i)
          if (graph.launch.axes[i].role == ir::Role::Loop)
            result = bound(result, atoms.block_axes[i]);
        return result;
      }
      case ir::Form::Map:
        break;
    }
    switch (op.kind) {
      case ir::OpKind::Neg:
        return in[0];
      case ir::OpKind::Add:
      case ir::OpKind::Sub:
        return {larger(in[0].top, in[1].top), larger(in[0].bottom, in[1].bottom)};
      case ir::OpKind::Mul:
        return {sum(in[0].top, in[1].top), sum(in[0].bottom, in[1].bottom)};
      case ir::OpKind::Square:
        return {sum(in[0].top, in[0].top), sum(in[0].bottom, in[0].bottom)};
      case ir::OpKind::Div:
        return {sum(in[0].top, in[1].bottom), sum(in[0].bottom, in[1].top)};
      default:
        for (size_t k = 0; k < in.size(); ++k) require(in[k], axes(k));
        return {};
    }
  }

  QuotientBinders bound(QuotientBinders value, const AxisAtoms& axis) {
    for (AtomId atom : classes_.resolve(axis)) ++value.top[atom];
    return value;
  }

  const Classes& classes_;
  SizeDemand& demand_;
};

}  // namespace

SizeDemand size_demand(const ir::Graph& graph, const GraphAtoms& atoms, const Classes& classes) {
  SizeDemand demand;
  Analysis analysis(classes, demand);
  const std::vector<QuotientBinders> values = analysis.run(graph, atoms, {});
  for (ir::ValueId output : graph.outputs)
    analysis.require(values[output.index], atoms.values[output.index]);
  return demand;
}

}  // namespace mirage::verify
