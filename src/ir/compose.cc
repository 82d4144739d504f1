#include "ir/compose.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace mirage::ir {
namespace {

/// The axis in [0, rank), or what is wrong.
Result<size_t> checked_axis(const GraphBuilder& builder, ValueId x, int64_t axis,
                            const std::string& label) {
  const int64_t rank = static_cast<int64_t>(builder.type(x).shape.size());
  if (axis < -rank || axis >= rank)
    return bad_input("{}: axis {} is out of range for rank {}", label, axis, rank);
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

Result<ValueId> reduce_axis(GraphBuilder& builder, OpKind kind, ValueId x, int64_t axis) {
  Attrs attrs;
  attrs.axis = axis;
  return builder.add(kind, {x}, std::move(attrs));
}

Result<ValueId> mean_of_last(GraphBuilder& builder, ValueId x, size_t axes) {
  const int64_t rank = static_cast<int64_t>(builder.type(x).shape.size());
  for (size_t i = 0; i < axes; ++i) {
    MIRAGE_TRY(x, reduce_axis(builder, OpKind::Mean, x, rank - 1 - static_cast<int64_t>(i)));
  }
  return x;
}

Result<void> check_norm(const GraphBuilder& builder, ValueId x, const NormOptions& options,
                        size_t axes, const std::string& label) {
  const Shape& shape = builder.type(x).shape;
  if (axes < 1 || axes > shape.size())
    return bad_input("{}: expected 1 to {} normalized axes, found {}", label, shape.size(), axes);
  for (const auto& [name, value] :
       {std::pair("weight", options.weight), std::pair("bias", options.bias)}) {
    if (!value) continue;
    const Shape& other = builder.type(*value).shape;
    bool fits = other.size() <= shape.size();
    for (size_t i = 0; fits && i < other.size(); ++i) {
      const int64_t extent = shape[shape.size() - other.size() + i];
      fits = other[i] == extent || other[i] == 1;
    }
    if (!fits)
      return bad_input("{}: {} {} does not broadcast to {}", label, name, to_string(other),
                       to_string(shape));
  }
  if (options.eps && !(*options.eps >= 0))
    return bad_input("{}: expected eps >= 0, found {}", label, *options.eps);
  return {};
}

/// x / sqrt(variance + eps) * weight + bias
Result<ValueId> finish_norm(GraphBuilder& builder, ValueId x, ValueId variance,
                            const NormOptions& options) {
  if (options.eps && *options.eps != 0) {
    MIRAGE_TRY(const ValueId eps, builder.constant(*options.eps));
    MIRAGE_TRY(variance, builder.add(OpKind::Add, {variance, eps}));
  }
  MIRAGE_TRY(const ValueId root, builder.add(OpKind::Sqrt, {variance}));
  MIRAGE_TRY(ValueId result, builder.add(OpKind::Div, {x, root}));
  if (options.weight) {
    MIRAGE_TRY(result, builder.add(OpKind::Mul, {result, *options.weight}));
  }
  if (options.bias) {
    MIRAGE_TRY(result, builder.add(OpKind::Add, {result, *options.bias}));
  }
  return result;
}

Result<ValueId> normalised_exp(GraphBuilder& builder, ValueId shifted, int64_t axis) {
  MIRAGE_TRY(const ValueId numerator, builder.add(OpKind::Exp, {shifted}));
  MIRAGE_TRY(const ValueId sum, reduce_axis(builder, OpKind::Sum, numerator, axis));
  return builder.add(OpKind::Div, {numerator, sum});
}

}  // namespace

Result<ValueId> rms_norm(GraphBuilder& builder, ValueId x, const NormOptions& options,
                         size_t axes) {
  const std::string label = "rms_norm " + builder.display(x);
  MIRAGE_TRY_VOID(check_norm(builder, x, options, axes, label));
  if (options.bias) return bad_input("{}: has no bias", label);
  MIRAGE_TRY(const ValueId square, builder.add(OpKind::Square, {x}));
  MIRAGE_TRY(const ValueId mean, mean_of_last(builder, square, axes));
  return finish_norm(builder, x, mean, options);
}

Result<ValueId> rms_norm(GraphBuilder& builder, ValueId x, const Shape& normalized_shape,
                         const NormOptions& options) {
  const Shape& shape = builder.type(x).shape;
  if (normalized_shape.empty() || normalized_shape.size() > shape.size() ||
      !std::equal(normalized_shape.rbegin(), normalized_shape.rend(), shape.rbegin()))
    return bad_input("rms_norm {}: normalized shape {} is not the end of shape {}",
                     builder.display(x), to_string(normalized_shape), to_string(shape));
  return rms_norm(builder, x, options, normalized_shape.size());
}

Result<ValueId> layer_norm(GraphBuilder& builder, ValueId x, const NormOptions& options,
                           size_t axes) {
  MIRAGE_TRY_VOID(check_norm(builder, x, options, axes, "layer_norm " + builder.display(x)));
  MIRAGE_TRY(const ValueId mean, mean_of_last(builder, x, axes));
  MIRAGE_TRY(const ValueId centred, builder.add(OpKind::Sub, {x, mean}));
  MIRAGE_TRY(const ValueId square, builder.add(OpKind::Square, {centred}));
  MIRAGE_TRY(const ValueId variance, mean_of_last(builder, square, axes));
  return finish_norm(builder, centred, variance, options);
}

Result<ValueId> softmax(GraphBuilder& builder, ValueId x, int64_t axis) {
  MIRAGE_TRY_VOID(checked_axis(builder, x, axis, "softmax " + builder.display(x)));
  return normalised_exp(builder, x, axis);
}

Result<ValueId> safe_softmax(GraphBuilder& builder, ValueId x, int64_t axis) {
  MIRAGE_TRY_VOID(checked_axis(builder, x, axis, "safe_softmax " + builder.display(x)));
  MIRAGE_TRY(const ValueId max, reduce_axis(builder, OpKind::Max, x, axis));
  MIRAGE_TRY(const ValueId shifted, builder.add(OpKind::Sub, {x, max}));
  return normalised_exp(builder, shifted, axis);
}

Result<ValueId> reduce(GraphBuilder& builder, Combine combine, ValueId x,
                       std::span<const int64_t> axes, bool keep_axes) {
  const std::string label = fmt::format("reduce {}", builder.display(x));
  OpKind kind = OpKind::Sum;
  switch (combine) {
    case Combine::None:
      return bad_input("{}: expected sum, mean or max", label);
    case Combine::Sum:
      break;
    case Combine::Mean:
      kind = OpKind::Mean;
      break;
    case Combine::Max:
      kind = OpKind::Max;
      break;
  }
  std::vector<bool> is_reduced(builder.type(x).shape.size(), false);
  if (axes.empty()) return bad_input("{}: expected at least one axis", label);
  for (int64_t axis : axes) {
    MIRAGE_TRY(const size_t index, checked_axis(builder, x, axis, label));
    if (is_reduced[index]) return bad_input("{}: axis {} is given twice", label, index);
    is_reduced[index] = true;
    MIRAGE_TRY(x, reduce_axis(builder, kind, x, axis));
  }
  if (keep_axes) return x;
  Attrs attrs;
  for (size_t i = 0; i < is_reduced.size(); ++i)
    if (!is_reduced[i]) attrs.ints.push_back(builder.type(x).shape[i]);
  return builder.add(OpKind::Reshape, {x}, std::move(attrs));
}

Result<ValueId> narrow(GraphBuilder& builder, ValueId x, int64_t axis, int64_t start,
                       int64_t length) {
  Attrs attrs;
  attrs.axis = axis;
  attrs.ints = {start, length};
  return builder.add(OpKind::Narrow, {x}, std::move(attrs));
}

Result<std::vector<ValueId>> chunk(GraphBuilder& builder, ValueId x, int64_t count, int64_t axis) {
  const std::string label = "chunk " + builder.display(x);
  MIRAGE_TRY(const size_t index, checked_axis(builder, x, axis, label));
  const int64_t extent = builder.type(x).shape[index];
  if (count < 1 || count > (int64_t{1} << 20) || extent % count != 0)
    return bad_input("{}: axis {} of extent {} does not split into {} equal parts", label, index,
                     extent, count);
  return split(builder, x, std::vector<int64_t>(static_cast<size_t>(count), extent / count), axis);
}

Result<std::vector<ValueId>> split(GraphBuilder& builder, ValueId x,
                                   std::span<const int64_t> extents, int64_t axis) {
  const std::string label = "split " + builder.display(x);
  MIRAGE_TRY(const size_t index, checked_axis(builder, x, axis, label));
  const int64_t extent = builder.type(x).shape[index];
  int64_t left = extent;
  for (int64_t part : extents) {
    if (part < 0 || part > left) left = -1;
    if (left < 0) break;
    left -= part;
  }
  if (left != 0)
    return bad_input("{}: parts [{}] do not add up to axis {} of extent {}", label,
                     fmt::join(extents, ", "), index, extent);
  std::vector<ValueId> parts;
  for (int64_t start = 0; int64_t part : extents) {
    MIRAGE_TRY(const ValueId id, narrow(builder, x, static_cast<int64_t>(index), start, part));
    parts.push_back(id);
    start += part;
  }
  return parts;
}

}  // namespace mirage::ir
