// Elementwise operators, reductions and products.

#include <algorithm>

#include "codegen/spell.h"
#include "codegen/steps.h"
#include "codegen/triton/kernel_emitter.h"
#include "codegen/triton/tile_text.h"

namespace mirage::codegen::triton {

using ir::Combine;
using ir::DType;
using ir::Op;
using ir::OpKind;
using ir::ValueId;
using lower::Length;

void KernelEmitter::map(const Op& op) {
  const ValueId result = op.results[0];
  std::vector<std::string> operands;
  bool are_numbers = true;
  for (ValueId operand : op.operands) {
    operands.push_back(broadcast(operand, result));
    are_numbers = are_numbers && tile(operand).is_number;
  }
  const bool is_bare = plan_.compute == DType::F64 || are_numbers;
  for (size_t i = 0; i < operands.size(); ++i)
    if (tile(op.operands[i]).is_number && is_bare)
      operands[i] = fmt::format("tl.full([], {}, {})", operands[i], compute_type());
  std::string text = triton_text(plan_.compute, op.kind, op.attrs, operands);
  if (text.front() == '(' && is_one_pair(text)) text = text.substr(1, text.size() - 2);
  define(result, text);
}

bool KernelEmitter::is_one_pair(const std::string& text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i + 1 == text.size();
  }
  return false;
}

std::string KernelEmitter::reduced(ValueId value, size_t axis, Combine combine, ValueId result) {
  std::vector<bool> has = axes_.kept(value);
  std::string text = wide(value);
  if (has[axis]) {
    const auto place =
        std::count(has.begin(), has.begin() + static_cast<std::ptrdiff_t>(axis), true);
    text = combine == Combine::Max
               ? fmt::format("tl.reduce({}, {}, larger)", filled(value, axis, text, kLowest), place)
               : fmt::format("tl.sum({}, axis={})", zero_filled(value, axis, text), place);
    has[axis] = false;
  }
  if (combine == Combine::Mean) text = fmt::format("{} / {}", text, count(lengths(value)[axis]));
  return conformed(text, has, result);
}

std::string KernelEmitter::count(const Length& length) const {
  return length.ragged < 0 ? python_number(static_cast<double>(length.max))
                           : fmt::format("tl.cast({}, {})", length_text(length), compute_type());
}

std::string KernelEmitter::shifted(const std::string& maximum) {
  return fmt::format("tl.where(tl.abs({0}) == float(\"inf\"), 0.0, {0})", maximum);
}

void KernelEmitter::reduce(const Op& op) {
  const ValueId result = op.results[0];
  const std::string text =
      reduced(op.operands[0], static_cast<size_t>(op.attrs.axis), ir::def(op.kind).combine, result);
  if (op.kind != OpKind::GaugeMax) return define(result, text);
  const std::string maximum = fresh(name_for(result) + "_max");
  section(result).push_back(fmt::format("{} = {}", maximum, text));
  define(result, shifted(maximum));
}

std::string KernelEmitter::dot_operand(ValueId value, size_t inner, DType dtype, ValueId result) {
  const Tile& known = tile(value);
  std::string text = known.text;
  if (known.dtype != dtype) text += fmt::format(".to(tl.{})", triton_type_name(dtype));
  text = zero_filled(value, inner, text);
  // Batches: those of the result, as one axis.
  const std::vector<bool> has = axes_.kept(value);
  std::vector<bool> want = axes_.kept(result);
  std::vector<int64_t> shape, whole{1};
  const size_t rank = want.size();
  for (size_t i = 0; i < rank; ++i) {
    if (i + 2 < rank && !want[i]) continue;
    const int64_t lanes = i + 2 < rank ? axes_.size(result, i) : axes_.size(value, i);
    shape.push_back(lanes);
    if (i + 2 < rank)
      whole[0] *= lanes;
    else
      whole.push_back(lanes);
  }
  want[rank - 2] = want[rank - 1] = true;
  if (has != want)
    text = fmt::format("tl.broadcast_to({}, {})", expanded(text, has, want), shape_text(shape));
  return shape.size() > 3 ? fmt::format("tl.reshape({}, {})", text, shape_text(whole)) : text;
}

std::string KernelEmitter::product(const Op& op, const std::string& state, ValueId result) {
  const ValueId lhs = op.operands[0], rhs = op.operands[1];
  const size_t rank = lengths(lhs).size();
  const auto added = [&](const std::string& text) {
    return state.empty() ? text : fmt::format("{} + {}", state, text);
  };
  if (!axes_.uses_dot[static_cast<size_t>(&op - block_.ops.data())])
    return added(summed_product(lhs, rhs, result));
  const DType type = block_.type(lhs).dtype;
  const DType dtype = ir::bytes_of(type) == 2 ? type : plan_.compute;
  const DType sum = dtype == DType::F64 ? DType::F64 : DType::F32;
  const bool is_batched = axes_.shape(result).size() > 3;
  const bool adds_itself = !state.empty() && !is_batched && sum == plan_.compute;
  std::string text = fmt::format("tl.dot({}, {}", dot_operand(lhs, rank - 1, dtype, result),
                                 dot_operand(rhs, rank - 2, dtype, result));
  if (adds_itself) text += ", " + state;
  if (dtype == DType::F32) text += ", input_precision=\"ieee\"";
  if (dtype == DType::F64) text += ", out_dtype=tl.float64";
  text += ")";
  if (is_batched) text = fmt::format("tl.reshape({}, {})", text, shape_text(axes_.shape(result)));
  if (sum != plan_.compute) text += fmt::format(".to({})", compute_type());
  return adds_itself ? text : added(text);
}

std::string KernelEmitter::summed_product(ValueId lhs, ValueId rhs, ValueId result) {
  const std::vector<bool> left = axes_.kept(lhs), right = axes_.kept(rhs), out = axes_.kept(result);
  const size_t rank = out.size();
  // The space of batches, m, k, n.
  const auto spread = [&](const std::vector<bool>& kept, bool is_left) {
    std::vector<bool> space(kept.begin(), kept.end() - 2);
    space.push_back(is_left && kept[rank - 2]);
    space.push_back(is_left ? kept[rank - 1] : kept[rank - 2]);
    space.push_back(!is_left && kept[rank - 1]);
    return space;
  };
  const std::vector<bool> a = spread(left, true), b = spread(right, false);
  std::vector<bool> all(a.size());
  for (size_t i = 0; i < a.size(); ++i) all[i] = a[i] || b[i];
  std::string text = fmt::format("{} * {}", expanded(zero_filled(lhs, rank - 1, wide(lhs)), a, all),
                                 expanded(zero_filled(rhs, rank - 2, wide(rhs)), b, all));
  std::vector<bool> has(all.begin(), all.end() - 2);
  has.push_back(all.back());
  const auto place = std::count(all.begin(), all.end() - 2, true);
  if (all[rank - 1]) text = fmt::format("tl.sum({}, axis={})", text, place);
  return conformed(text, has, result);
}

}  // namespace mirage::codegen::triton
