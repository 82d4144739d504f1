#include "interp/element_index.h"

#include <array>

namespace mirage::interp {

ElementIndex::ElementIndex(const ir::Graph& graph) : graph_(graph) {
  for (const ir::Value& value : graph.values)
    strides_.push_back(ir::row_major_strides(value.type.shape));
}

int64_t ElementIndex::broadcast(ir::ValueId result, int64_t index, ir::ValueId operand,
                                size_t trailing) const {
  const ir::Shape& to = graph_.type(operand).shape;
  const ir::Strides& own = strides(result);
  int64_t at_operand = 0;
  for (size_t i = 0; i + trailing < own.size(); ++i) {
    const int64_t position = index / own[i];
    index %= own[i];
    if (i + to.size() < own.size()) continue;
    const size_t axis = i + to.size() - own.size();
    if (to[axis] != 1) at_operand += position * strides(operand)[axis];
  }
  return at_operand;
}

int64_t ElementIndex::reduced(ir::ValueId operand, size_t axis, int64_t index) const {
  // The result has extent 1 along the axis, so that its index splits at the same inner size.
  const int64_t inner = strides(operand)[axis];
  return index / inner * inner * graph_.type(operand).shape[axis] + index % inner;
}

ElementIndex::Factors ElementIndex::contracted(const ir::Op& op, int64_t index) const {
  const ir::ValueId result = op.results[0];
  const ir::Shape& lhs = graph_.type(op.operands[0]).shape;
  const int64_t m = lhs[lhs.size() - 2], k = lhs.back(), n = graph_.type(result).shape.back();
  return {broadcast(result, index, op.operands[0], 2) + index / n % m * k,
          broadcast(result, index, op.operands[1], 2) + index % n};
}

ElementIndex::Element ElementIndex::moved(const ir::Op& op, int64_t index) const {
  if (op.kind == ir::OpKind::Reshape) return {op.operands[0], index};
  const ir::Strides& own = strides(op.results[0]);
  std::array<int64_t, ir::kMaxRank> position{};
  for (size_t i = 0; i < own.size(); ++i) {
    position[i] = index / own[i];
    index %= own[i];
  }
  Element from{op.operands[0], 0};
  if (op.kind == ir::OpKind::Transpose) {
    for (size_t i = 0; i < own.size(); ++i)
      from.index += position[i] * strides(from.value)[static_cast<size_t>(op.attrs.ints[i])];
    return from;
  }
  const size_t axis = static_cast<size_t>(op.attrs.axis);
  if (op.kind == ir::OpKind::Narrow) position[axis] += op.attrs.ints[0];
  if (op.kind == ir::OpKind::Concat)
    for (size_t k = 0; position[axis] >= graph_.type(op.operands[k]).shape[axis]; ++k) {
      position[axis] -= graph_.type(op.operands[k]).shape[axis];
      from.value = op.operands[k + 1];
    }
  for (size_t i = 0; i < own.size(); ++i) from.index += position[i] * strides(from.value)[i];
  return from;
}

}  // namespace mirage::interp
