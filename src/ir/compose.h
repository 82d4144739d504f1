#pragma once
// Composite operators: functions that add the operators of the table, so that search sees through
// them. Axes may be negative. Errors are BadInput and name the composite, the value and the axis.

#include <optional>
#include <span>
#include <vector>

#include "ir/builder.h"

namespace mirage::ir {

struct NormOptions {
  std::optional<ValueId> weight;  // multiplied; broadcasts to x
  std::optional<ValueId> bias;    // added last (layer_norm only)
  std::optional<double> eps;      // added under the root
};

/// x / sqrt(mean(x^2) + eps) * weight, the mean over the last `axes` axes.
Result<ValueId> rms_norm(GraphBuilder& builder, ValueId x, const NormOptions& options = {},
                         size_t axes = 1);
/// The same over the trailing axes of this shape, which x must end with.
Result<ValueId> rms_norm(GraphBuilder& builder, ValueId x, const Shape& normalized_shape,
                         const NormOptions& options = {});

/// (x - mean) / sqrt(mean((x - mean)^2) + eps) * weight + bias over the last `axes` axes.
Result<ValueId> layer_norm(GraphBuilder& builder, ValueId x, const NormOptions& options = {},
                           size_t axes = 1);

/// exp(x) / sum(exp(x)) as published. Back ends shift the exponent themselves (docs/ir.md), so it
/// does not overflow where safe_softmax does not.
Result<ValueId> softmax(GraphBuilder& builder, ValueId x, int64_t axis);
/// exp(x - max(x)) / sum(exp(x - max(x))): the maximum is part of the program.
Result<ValueId> safe_softmax(GraphBuilder& builder, ValueId x, int64_t axis);

/// Sum, mean or max over several axes, which keep extent 1, or go with keep_axes = false.
Result<ValueId> reduce(GraphBuilder& builder, Combine combine, ValueId x,
                       std::span<const int64_t> axes, bool keep_axes = true);

/// Elements [start, start + length) along an axis.
Result<ValueId> narrow(GraphBuilder& builder, ValueId x, int64_t axis, int64_t start,
                       int64_t length);
/// `count` equal parts along an axis, which count must divide.
Result<std::vector<ValueId>> chunk(GraphBuilder& builder, ValueId x, int64_t count, int64_t axis);
/// Parts of these extents along an axis; they must add up to its extent.
Result<std::vector<ValueId>> split(GraphBuilder& builder, ValueId x,
                                   std::span<const int64_t> extents, int64_t axis);

}  // namespace mirage::ir
