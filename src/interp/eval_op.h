#pragma once
// One operator on whole tensors over a domain. Maps, contractions, reductions and moves; loads,
// stores and accumulators belong to block_eval.h.
//
// A domain is what ir/ops/bodies.h asks for, and in addition count, zero, lowest, dot, and
// gauge(maximum) or, where shifts are replaced by random values, fresh_gauge().

#include <algorithm>

#include "interp/shapes.h"
#include "interp/tensor.h"
#include "ir/ops/bodies.h"
#include "util/check.h"

namespace mirage::interp {

template <class D>
concept FreshGauges = requires(D& d) {
  d.fresh_gauge();
};

template <class V>
struct Operand {
  const Tensor<V>* tensor;
  const ir::Shape* declared;
};

template <class V>
void reset(Tensor<V>& out, const ir::Shape& shape) {
  out.shape = shape;
  out.data.resize(static_cast<size_t>(ir::element_count(shape)));
}

/// Calls visit(offset_a, offset_b) for every element of the result, row-major.
template <class Visit>
void for_each(const Broadcast& plan, size_t operands, Visit&& visit) {
  const size_t rank = plan.extents.size();
  for (int64_t extent : plan.extents)
    if (extent == 0) return;
  if (rank == 0) {
    visit(0, 0);
    return;
  }
  Steps index{};
  int64_t a = 0, b = 0;
  const Steps& step_a = plan.steps[0];
  const Steps& step_b = plan.steps[operands > 1 ? 1 : 0];
  const int64_t inner = plan.extents[rank - 1];
  const int64_t inner_a = step_a[rank - 1], inner_b = step_b[rank - 1];
  while (true) {
    for (int64_t i = 0; i < inner; ++i) visit(a + i * inner_a, b + i * inner_b);
    size_t axis = rank - 1;
    while (true) {
      if (axis == 0) return;
      --axis;
      a += step_a[axis];
      b += step_b[axis];
      if (++index[axis] < plan.extents[axis]) break;
      a -= step_a[axis] * plan.extents[axis];
      b -= step_b[axis] * plan.extents[axis];
      index[axis] = 0;
    }
  }
}

template <class D, class V>
V reduce(D& d, ir::OpKind kind, const V* first, int64_t step, int64_t n) {
  const ir::Combine combine = ir::def(kind).combine;
  if (combine == ir::Combine::Max) {
    if constexpr (FreshGauges<D>)
      if (kind == ir::OpKind::GaugeMax) return d.fresh_gauge();
    V best = n > 0 ? first[0] : d.lowest();
    for (int64_t i = 1; i < n; ++i) best = d.maximum(best, first[i * step]);
    if constexpr (!FreshGauges<D>)
      if (kind == ir::OpKind::GaugeMax) return d.gauge(best);
    return best;
  }
  V sum = n > 0 ? first[0] : d.zero();
  for (int64_t i = 1; i < n; ++i) sum = d.add(sum, first[i * step]);
  return combine == ir::Combine::Mean ? d.div(sum, d.count(n)) : sum;
}

template <class D, class V>
Result<void> eval_map_op(D& d, const ir::Op& op, std::span<const Operand<V>> operands,
                         const ir::Shape& declared, Tensor<V>& out) {
  const OperandShape shapes[2] = {{&operands[0].tensor->shape, operands[0].declared},
                                  {&operands.back().tensor->shape, operands.back().declared}};
  Broadcast plan;
  MIRAGE_TRY_VOID(
      broadcast(std::span(shapes, operands.size()), declared, declared.size(), 0, plan));
  reset(out, plan.extents);
  const V* a = operands[0].tensor->data.data();
  const V* b = operands.back().tensor->data.data();
  V* target = out.data.data();
  const size_t arity = operands.size();
  for_each(plan, arity, [&](int64_t i, int64_t j) {
    const V args[2] = {a[i], b[j]};
    *target++ = ir::eval_map(op.kind, d, op.attrs, std::span<const V>(args, arity));
  });
  return {};
}

template <class D, class V>
Result<void> eval_matmul(D& d, std::span<const Operand<V>> operands, const ir::Shape& declared,
                         Tensor<V>& out) {
  const ir::Shape& lhs = operands[0].tensor->shape;
  const ir::Shape& rhs = operands[1].tensor->shape;
  const size_t rank = lhs.size();
  const OperandShape shapes[2] = {{&lhs, operands[0].declared}, {&rhs, operands[1].declared}};
  Broadcast plan;
  MIRAGE_TRY_VOID(broadcast(shapes, declared, rank - 2, 2, plan));
  const int64_t m = lhs[rank - 2], k = lhs[rank - 1], n = rhs[rank - 1];
  if (k != rhs[rank - 2])
    return unsupported("a short tile ({} elements) is contracted with one of {}", k, rhs[rank - 2]);
  ir::Shape shape = plan.extents;
  shape.push_back(m);
  shape.push_back(n);
  reset(out, shape);
  V* target = out.data.data();
  for_each(plan, 2, [&](int64_t i, int64_t j) {
    const V* a = operands[0].tensor->data.data() + i;
    const V* b = operands[1].tensor->data.data() + j;
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < n; ++column)
        *target++ = d.dot(a + row * k, 1, b + column, n, k);
  });
  return {};
}

template <class D, class V>
Result<void> eval_reduce(D& d, const ir::Op& op, const Operand<V>& operand, Tensor<V>& out) {
  const size_t axis = static_cast<size_t>(op.attrs.axis);
  ir::Shape shape = operand.tensor->shape;
  const int64_t n = shape[axis];
  int64_t inner = 1, outer = 1;
  for (size_t i = 0; i < shape.size(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
  shape[axis] = 1;
  reset(out, shape);
  const V* data = operand.tensor->data.data();
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t j = 0; j < inner; ++j)
      out.data[static_cast<size_t>(i * inner + j)] =
          reduce(d, op.kind, data + i * n * inner + j, inner, n);
  return {};
}

template <class V>
Result<void> eval_transpose(const ir::Op& op, const Operand<V>& operand, Tensor<V>& out) {
  const ir::Shape& shape = operand.tensor->shape;
  const ir::Strides strides = ir::row_major_strides(shape);
  Broadcast plan;
  plan.extents.resize(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    const size_t from = static_cast<size_t>(op.attrs.ints[i]);
    plan.extents[i] = shape[from];
    plan.steps[0][i] = strides[from];
  }
  reset(out, plan.extents);
  V* target = out.data.data();
  const V* data = operand.tensor->data.data();
  for_each(plan, 1, [&](int64_t i, int64_t) { *target++ = data[i]; });
  return {};
}

/// Copies [start, start + length) along an axis of `from` to position `at` of `to`.
template <class V>
void copy_range(const Tensor<V>& from, int64_t start, int64_t length, size_t axis, Tensor<V>& to,
                int64_t at) {
  int64_t inner = 1, outer = 1;
  for (size_t i = 0; i < axis; ++i) outer *= to.shape[i];
  for (size_t i = axis + 1; i < to.shape.size(); ++i) inner *= to.shape[i];
  for (int64_t i = 0; i < outer; ++i)
    std::copy_n(from.data.begin() + (i * from.shape[axis] + start) * inner, length * inner,
                to.data.begin() + (i * to.shape[axis] + at) * inner);
}

template <class V>
Result<void> eval_concat(const ir::Op& op, std::span<const Operand<V>> operands, Tensor<V>& out) {
  const size_t axis = static_cast<size_t>(op.attrs.axis);
  ir::Shape shape = operands[0].tensor->shape;
  shape[axis] = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    const ir::Shape& own = operands[k].tensor->shape;
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != axis && own[i] != shape[i])
        return unsupported("concat of tiles of different length along axis {}", i);
    if (k + 1 < operands.size() && own[axis] != (*operands[k].declared)[axis])
      return unsupported("concat after a short tile");
    shape[axis] += own[axis];
  }
  reset(out, shape);
  int64_t at = 0;
  for (const Operand<V>& operand : operands) {
    const int64_t length = operand.tensor->shape[axis];
    copy_range(*operand.tensor, 0, length, axis, out, at);
    at += length;
  }
  return {};
}

template <class D, class V>
Result<void> eval_op(D& d, const ir::Op& op, std::span<const Operand<V>> operands,
                     const ir::Shape& declared, Tensor<V>& out) {
  switch (ir::def(op.kind).form) {
    case ir::Form::Leaf:
      reset(out, {});
      out.data[0] = op.kind == ir::OpKind::Const
                        ? d.constant(op.attrs.scalars[0])
                        : d.count(operands[0].tensor->shape[static_cast<size_t>(op.attrs.axis)]);
      return {};
    case ir::Form::Map:
      return eval_map_op(d, op, operands, declared, out);
    case ir::Form::Contract:
      return eval_matmul(d, operands, declared, out);
    case ir::Form::Reduce:
      return eval_reduce(d, op, operands[0], out);
    case ir::Form::Move: {
      if (op.kind == ir::OpKind::Transpose) return eval_transpose(op, operands[0], out);
      if (op.kind == ir::OpKind::Concat) return eval_concat(op, operands, out);
      if (op.kind == ir::OpKind::Narrow) {
        const size_t axis = static_cast<size_t>(op.attrs.axis);
        ir::Shape shape = operands[0].tensor->shape;
        const int64_t start = std::min(op.attrs.ints[0], shape[axis]);
        const int64_t length = std::min(op.attrs.ints[1], shape[axis] - start);
        shape[axis] = length;
        reset(out, shape);
        copy_range(*operands[0].tensor, start, length, axis, out, 0);
        return {};
      }
      MIRAGE_TRY(ir::Shape shape,
                 reshaped({&operands[0].tensor->shape, operands[0].declared}, declared));
      out.shape = std::move(shape);
      out.data = operands[0].tensor->data;
      return {};
    }
    case ir::Form::Accum:
    case ir::Form::Block:
      break;
  }
  MIRAGE_CHECK(false, "operator is not evaluated on whole tensors");
  return {};
}

}  // namespace mirage::interp
