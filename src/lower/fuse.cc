#include "lower/fuse.h"

#include <algorithm>

namespace mirage::lower {
namespace {

using ir::Form;
using ir::Op;
using ir::OpKind;
using ir::Phase;

// Longer chains are cut: code size and registers grow with them, and recursion is as deep.
constexpr int kLongestChain = 48;

Form form_of(const ir::Op& op) { return ir::def(op.kind).form; }

}  // namespace

std::vector<bool> live_operators(const ir::Graph& block) {
  std::vector<bool> is_live(block.ops.size(), false);
  std::vector<bool> is_read(block.values.size(), false);
  for (size_t i = block.ops.size(); i-- > 0;) {
    const Op& op = block.ops[i];
    is_live[i] = op.kind == OpKind::Store;
    for (ir::ValueId result : op.results) is_live[i] = is_live[i] || is_read[result.index];
    if (!is_live[i]) continue;
    for (ir::ValueId operand : op.operands) is_read[operand.index] = true;
  }
  return is_live;
}

Fusion find_fusion(const ir::Graph& block) {
  Fusion fusion;
  const size_t count = block.values.size();
  fusion.is_inlined.assign(count, false);
  fusion.is_accumulated.assign(count, false);
  fusion.uses.assign(count, 0);
  fusion.user.resize(count);
  const std::vector<bool> is_live = live_operators(block);
  for (size_t i = 0; i < block.ops.size(); ++i)
    for (ir::ValueId operand : block.ops[i].operands) {
      if (!is_live[i]) continue;
      ++fusion.uses[operand.index];
      fusion.user[operand.index] = ir::OpId(i);
    }
  const std::vector<Phase> phases = phases_of(block);
  std::vector<int> chain(count, 0);  // operators of the expression that computes a value
  for (const ir::Op& op : block.ops) {
    const Form form = form_of(op);
    if (form == Form::Leaf) {
      fusion.is_inlined[op.results[0].index] = op.kind == OpKind::Const;
      continue;
    }
    if (form != Form::Map && form != Form::Reduce && form != Form::Contract) continue;
    const ir::ValueId result = op.results[0];
    if (form == Form::Map) {
      chain[result.index] = 1;
      for (ir::ValueId operand : op.operands)
        if (fusion.is_inlined[operand.index]) chain[result.index] += chain[operand.index];
    }
    if (fusion.uses[result.index] != 1) continue;
    const ir::Op& user = block.op(fusion.user[result.index]);
    const Form user_form = form_of(user);
    const bool is_in_loop = phases[result.index] == Phase::InLoop;
    if (form != Form::Map) {
      const bool is_first = user.operands[0] == result;
      const bool adds = (user.kind == OpKind::Accum && user.attrs.combine != ir::Combine::Max) ||
                        (user.kind == OpKind::AccumRescale && is_first);
      const bool is_max = user.kind == OpKind::Accum && user.attrs.combine == ir::Combine::Max;
      fusion.is_accumulated[result.index] =
          is_in_loop && op.kind != OpKind::GaugeMax &&
          (ir::def(op.kind).combine == ir::Combine::Max ? is_max : adds);
      continue;
    }
    if (chain[result.index] > kLongestChain) continue;
    const ir::Shape& shape = block.type(result).shape;
    if (user_form == Form::Map) {
      fusion.is_inlined[result.index] = block.type(user.results[0]).shape == shape &&
                                        phases[user.results[0].index] == phases[result.index];
    } else if (user_form == Form::Reduce || user.kind == OpKind::Store) {
      fusion.is_inlined[result.index] = true;
    } else if (user_form == Form::Accum) {
      const bool is_factor = user.kind == OpKind::AccumRescale && user.operands[0] != result;
      fusion.is_inlined[result.index] = is_in_loop && !is_factor;
    }
  }
  return fusion;
}

ThreadGraph::ThreadGraph(const ir::Graph& block, const Fusion& fusion, ir::DType compute,
                         std::function<std::optional<double>(const ir::Op&)> extent)
    : block_(block),
      fusion_(fusion),
      compute_(compute),
      extent_(std::move(extent)),
      known_(block.values.size()) {}

Result<ir::ValueId> ThreadGraph::extra_input(const ir::Shape& shape) {
  inputs.push_back(ir::ValueId{});
  return builder.input({compute_, shape});
}

Result<ir::ValueId> ThreadGraph::value(ir::ValueId id, bool force) {
  ir::ValueId& known = known_[id.index];
  if (known.is_valid()) return known;
  const ir::Op* op = block_.def_of(id);
  if (op && form_of(*op) == Form::Leaf) {
    const std::optional<double> constant =
        op->kind == OpKind::Const ? op->attrs.scalars[0] : extent_(*op);
    if (constant) {
      MIRAGE_TRY(known, builder.constant(*constant));
      return known;
    }
  }
  if (op && form_of(*op) == Form::Map && (force || fusion_.is_inlined[id.index])) {
    std::vector<ir::ValueId> operands;
    for (ir::ValueId operand : op->operands) {
      MIRAGE_TRY(const ir::ValueId mine, value(operand));
      operands.push_back(mine);
    }
    MIRAGE_TRY(known, builder.add(op->kind, operands, op->attrs));
    return known;
  }
  MIRAGE_TRY(known, builder.input({compute_, block_.type(id).shape}, block_.value(id).name));
  inputs.push_back(id);
  return known;
}

}  // namespace mirage::lower
