#include "tune/loops.h"

#include <algorithm>

#include "tune/host_tensor.h"

// Faster where the processor has wide vectors; the loop is the same.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define MIRAGE_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MIRAGE_WIDE
#endif

namespace mirage::tune {
namespace {

using ir::OpKind;
using ir::Shape;
using ir::Strides;

/// Strides of an operand seen in the result's shape: 0 where it is broadcast.
Strides broadcast_strides(const Shape& operand, const Shape& result) {
  const Strides own = ir::row_major_strides(operand);
  Strides strides(result.size(), 0);
  const size_t lead = result.size() - operand.size();
  for (size_t axis = 0; axis < operand.size(); ++axis)
    if (operand[axis] != 1) strides[lead + axis] = own[axis];
  return strides;
}

std::vector<int64_t> offsets_of(const Shape& shape, const Strides& strides, int64_t start = 0) {
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(ir::element_count(shape)));
  for_each_offset(shape, strides, [&](int64_t offset) { offsets.push_back(start + offset); });
  return offsets;
}

std::vector<int64_t> batch_offsets(const Shape& operand, const Shape& out) {
  const Shape batch(out.begin(), out.end() - 2);
  return offsets_of(batch, broadcast_strides(Shape(operand.begin(), operand.end() - 2), batch));
}

MIRAGE_WIDE void add_scaled(double* __restrict out, const double* __restrict in, double scale,
                            int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] += scale * in[i];
}

}  // namespace

std::vector<int64_t> broadcast_offsets(const Shape& operand, const Shape& result) {
  if (operand == result) return {};
  return offsets_of(result, broadcast_strides(operand, result));
}

Product::Product(const Shape& a, const Shape& b, const Shape& out)
    : m_(out[out.size() - 2]),
      n_(out.back()),
      k_(a.back()),
      batch_a_(batch_offsets(a, out)),
      batch_b_(batch_offsets(b, out)) {}

void Product::add(const std::vector<double>& a, const std::vector<double>& b,
                  std::vector<double>& out, const Part& part, const Deadline& deadline) const {
  constexpr int64_t kBlock = 64;  // rows of b that stay in cache while rows of a go by
  const int64_t column = part.first_column, width = part.last_column - part.first_column;
  for (int64_t k0 = 0; k0 < k_; k0 += kBlock)
    for (int64_t row = part.first_row; row < part.last_row && !deadline.is_over(); ++row) {
      const auto batch = static_cast<size_t>(row / m_);
      const double* row_a = a.data() + batch_a_[batch] * m_ * k_ + row % m_ * k_;
      const double* matrix_b = b.data() + batch_b_[batch] * k_ * n_ + column;
      for (int64_t i = k0; i < std::min(k_, k0 + kBlock); ++i)
        add_scaled(out.data() + row * n_ + column, matrix_b + i * n_, row_a[i], width);
    }
}

void Product::on_threads(int threads, const std::function<void(const Part&)>& work) const {
  // Shares of columns read only their part of b, and there may be few rows.
  constexpr int64_t kLeastColumns = 64;
  if (n_ >= kLeastColumns * threads)
    return in_parallel(threads, n_, kLeastColumns, [&](int64_t first, int64_t last) {
      work({0, rows(), first, last});
    });
  in_parallel(threads, rows(), 1, [&](int64_t first, int64_t last) { work({first, last, 0, n_}); });
}

std::vector<Moved> moves_of(const ir::Op& op, const std::vector<Shape>& operands,
                            const Shape& result) {
  if (op.kind == OpKind::Concat) {
    const Strides strides = ir::row_major_strides(result);
    const auto axis = static_cast<size_t>(op.attrs.axis);
    std::vector<Moved> moves;
    int64_t start = 0;
    for (const Shape& shape : operands) {
      moves.push_back({{}, offsets_of(shape, strides, start * strides[axis])});
      start += shape[axis];
    }
    return moves;
  }
  if (op.kind == OpKind::Reshape) return {{}};
  Strides strides = ir::row_major_strides(operands[0]);
  int64_t start = 0;
  if (op.kind == OpKind::Transpose) {
    const Strides own = strides;
    for (size_t i = 0; i < own.size(); ++i) strides[i] = own[static_cast<size_t>(op.attrs.ints[i])];
  } else if (op.kind == OpKind::Narrow) {
    start = op.attrs.ints[0] * strides[static_cast<size_t>(op.attrs.axis)];
  }
  return {{offsets_of(result, strides, start), {}}};
}

ReducedAxis::ReducedAxis(const Shape& shape, int64_t axis) : n(shape[static_cast<size_t>(axis)]) {
  for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i) inner *= shape[i];
}

}  // namespace mirage::tune
