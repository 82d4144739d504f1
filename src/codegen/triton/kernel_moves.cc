// Operators that only move elements.

#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/triton/kernel_emitter.h"
#include "codegen/triton/tile_text.h"

namespace mirage::codegen::triton {

using ir::DType;
using ir::Op;
using ir::OpKind;
using ir::ValueId;
using lower::Length;

void KernelEmitter::move(const Op& op) {
  const ValueId result = op.results[0], from = op.operands[0];
  const std::vector<bool> kept = axes_.kept(from);
  std::vector<size_t> order;  // of the operand's axes that its shape has
  Tile moved = tile(from);
  std::vector<bool> is_zero;
  for (int64_t axis : op.attrs.ints) {
    const size_t source = static_cast<size_t>(axis);
    is_zero.push_back(is_zero_beyond(from, source));
    if (kept[source])
      order.push_back(static_cast<size_t>(
          std::count(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(source), true)));
  }
  moved.is_zero = std::move(is_zero);
  if (!std::is_sorted(order.begin(), order.end())) {
    const DType dtype = moved.dtype;
    define(result, fmt::format("tl.permute({}, ({}))", moved.text, fmt::join(order, ", ")),
           std::move(moved.is_zero));
    values_[result.index]->dtype = dtype;
  } else {
    values_[result.index] = std::move(moved);
  }
}

Result<void> KernelEmitter::reshape(const Op& op) {
  const ValueId result = op.results[0], from = op.operands[0];
  const auto refuse = [&]() {
    return unsupported("kernel {}: reshape %{}: tiles of {} and {} lanes are padded differently",
                       plan_.name, name_for(result), shape_text(axes_.shape(from)),
                       shape_text(axes_.shape(result)));
  };
  for (size_t i = 0; i < lengths(from).size(); ++i)
    if (lengths(from)[i] == Length{} && axes_.size(from, i) > 1) return refuse();
  std::vector<bool> has = axes_.kept(result);  // axes of one element have one lane at first
  std::vector<int64_t> shape;
  for (size_t i = 0; i < has.size(); ++i) {
    has[i] = has[i] && lengths(result)[i] != Length{};
    if (has[i]) shape.push_back(axes_.size(result, i));
  }
  // Rows of a group are whole but for the outermost axis.
  const auto lanes_of = [&](ValueId value, const std::vector<size_t>& axes) {
    int64_t lanes = 1;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (i > 0 && has_idle_lanes(value, axes[i])) return int64_t{0};
      lanes *= axes_.size(value, axes[i]);
    }
    return lanes;
  };
  for (const ReshapeGroup& group : reshape_groups(lengths(from), lengths(result))) {
    const int64_t lanes = lanes_of(from, group.from);
    if (lanes == 0 || lanes != lanes_of(result, group.to)) return refuse();
  }
  Tile moved = tile(from);
  moved.is_zero.clear();
  if (axes_.shape(from) != shape)
    moved.text = fmt::format("tl.reshape({}, {})", moved.text, shape_text(shape));
  moved.text = conformed(moved.text, has, result);
  if (moved.text == tile(from).text) {
    values_[result.index] = std::move(moved);
  } else {
    define(result, moved.text);
    values_[result.index]->dtype = moved.dtype;
  }
  return {};
}

std::string KernelEmitter::part_text(ValueId value, const Part& part, ValueId result) {
  const Op* source = block_.def_of(value);
  if (source && source->kind == OpKind::Load) {
    std::string text = load_text(*source, result, {part});
    if (block_.type(value).dtype != plan_.compute) text += fmt::format(".to({})", compute_type());
    return text;
  }
  const std::vector<bool> has = axes_.kept(value), want = axes_.kept(result);
  const int64_t lanes = axes_.size(value, part.axis);
  if (!has[part.axis]) return conformed(wide(value), has, result);
  const auto place =
      std::count(has.begin(), has.begin() + static_cast<std::ptrdiff_t>(part.axis), true);
  if (!want[part.axis])  // one element
    return fmt::format("tl.sum(tl.where({} == {}, {}, 0.0), axis={})",
                       along(range(value, part.axis), value, part.axis), -part.shift, wide(value),
                       place);
  const std::string lane = range(result, part.axis);
  std::string index = part.shift == 0  ? lane
                      : part.shift > 0 ? fmt::format("{} - {}", lane, part.shift)
                                       : fmt::format("{} + {}", lane, -part.shift);
  index = fmt::format("tl.minimum(tl.maximum({}, 0), {})", index, lanes - 1);
  return fmt::format("tl.gather({}, tl.broadcast_to({}, {}), {})", wide(value),
                     along(index, result, part.axis), shape_text(axes_.shape(result)), place);
}

void KernelEmitter::narrow(const Op& op) {
  const ValueId result = op.results[0];
  const auto [start, length] = std::pair(op.attrs.ints[0], op.attrs.ints[1]);
  const Part part{static_cast<size_t>(op.attrs.axis), -start, 0, length};
  define(result, part_text(op.operands[0], part, result));
}

void KernelEmitter::concat(const Op& op) {
  const ValueId result = op.results[0];
  const size_t axis = static_cast<size_t>(op.attrs.axis);
  int64_t at = lengths(result)[axis].max;
  std::string text;
  for (size_t i = op.operands.size(); i-- > 0;) {
    const ValueId value = op.operands[i];
    const int64_t length = lengths(value)[axis].max;
    const std::string part = part_text(value, {axis, at - length, at - length, at}, result);
    text = text.empty() ? part
                        : fmt::format("tl.where({} < {}, {}, {})",
                                      along(range(result, axis), result, axis), at, part, text);
    at -= length;
  }
  define(result, text);
}

}  // namespace mirage::codegen::triton
