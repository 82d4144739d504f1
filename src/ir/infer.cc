#include "ir/infer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "util/check.h"

namespace mirage::ir {
namespace {

using Types = std::vector<TensorType>;
using Operands = std::span<const OperandInfo>;

/// Resolves a negative axis and checks its range.
Result<void> normalise_axis(int64_t& axis, size_t rank, const std::string& label) {
  const int64_t limit = static_cast<int64_t>(rank);
  if (axis < -limit || axis >= limit)
    return bad_input("{}: axis {} is out of range for rank {}", label, axis, rank);
  if (axis < 0) axis += limit;
  return {};
}

Result<DType> common_dtype(Operands operands, const std::string& label) {
  const OperandInfo* first = nullptr;
  for (const OperandInfo& operand : operands) {
    if (operand.is_weak) continue;
    if (!first) first = &operand;
    if (operand.type.dtype != first->type.dtype)
      return bad_input("{}: operand types differ: {} and {}", label, name_of(first->type.dtype),
                       name_of(operand.type.dtype));
  }
  return first ? first->type.dtype : operands[0].type.dtype;
}

Result<Types> infer_map(Operands operands, const Attrs& attrs, const OpDef& row,
                        const std::string& label) {
  MIRAGE_TRY(const DType dtype, common_dtype(operands, label));
  Shape shape;
  for (const OperandInfo& operand : operands) {
    const Shape& other = operand.type.shape;
    if (other.size() > shape.size()) shape.insert(shape.begin(), other.size() - shape.size(), 1);
    const size_t offset = shape.size() - other.size();
    for (size_t i = 0; i < other.size(); ++i) {
      int64_t& extent = shape[offset + i];
      if (extent == other[i] || other[i] == 1) continue;
      if (extent != 1)
        return bad_input(
            "{}: operands cannot be broadcast together: axis {} has {} and {} elements ({} and {})",
            label, offset + i, extent, other[i], to_string(operands[0].type.shape),
            to_string(other));
      extent = other[i];
    }
  }
  if (row.has(AttrKey::Lo) && !(attrs.scalars.size() == 2 && attrs.scalars[0] <= attrs.scalars[1]))
    return bad_input("{}: expected bounds lo <= hi, found [{}]", label,
                     fmt::join(attrs.scalars, ", "));
  return Types{{dtype, std::move(shape)}};
}

Result<Types> infer_matmul(Operands operands, const std::string& label) {
  MIRAGE_TRY(const DType dtype, common_dtype(operands, label));
  const Shape& lhs = operands[0].type.shape;
  const Shape& rhs = operands[1].type.shape;
  if (lhs.size() < 2 || rhs.size() != lhs.size())
    return bad_input("{}: expected operands of equal rank of at least 2, found {} and {}", label,
                     to_string(lhs), to_string(rhs));
  const size_t rank = lhs.size();
  if (lhs[rank - 1] != rhs[rank - 2])
    return bad_input("{}: inner extents differ: lhs has k={}, rhs has k={}", label, lhs[rank - 1],
                     rhs[rank - 2]);
  Shape shape = lhs;
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (lhs[i] != rhs[i] && lhs[i] != 1 && rhs[i] != 1)
      return bad_input("{}: batch extents differ at axis {}: lhs has {}, rhs has {}", label, i,
                       lhs[i], rhs[i]);
    shape[i] = lhs[i] == 1 ? rhs[i] : lhs[i];
  }
  shape[rank - 1] = rhs[rank - 1];
  return Types{{dtype, std::move(shape)}};
}

Result<Types> infer_reduce(Operands operands, Attrs& attrs, const std::string& label) {
  TensorType type = operands[0].type;
  MIRAGE_TRY_VOID(normalise_axis(attrs.axis, type.shape.size(), label));
  type.shape[static_cast<size_t>(attrs.axis)] = 1;
  return Types{std::move(type)};
}

Result<Types> infer_transpose(Operands operands, const Attrs& attrs, const std::string& label) {
  const TensorType& in = operands[0].type;
  std::vector<int64_t> sorted = attrs.ints;
  std::sort(sorted.begin(), sorted.end());
  bool is_permutation = sorted.size() == in.shape.size();
  for (size_t i = 0; is_permutation && i < sorted.size(); ++i)
    is_permutation = sorted[i] == static_cast<int64_t>(i);
  if (!is_permutation)
    return bad_input("{}: expected a permutation of {} axes, found [{}]", label, in.shape.size(),
                     fmt::join(attrs.ints, ", "));
  TensorType out = in;
  for (size_t i = 0; i < in.shape.size(); ++i)
    out.shape[i] = in.shape[static_cast<size_t>(attrs.ints[i])];
  return Types{std::move(out)};
}

Result<Types> infer_reshape(Operands operands, const Attrs& attrs, const std::string& label) {
  const TensorType& in = operands[0].type;
  MIRAGE_TRY(const int64_t count, checked_element_count(attrs.ints, label));
  if (count != element_count(in.shape))
    return bad_input("{}: cannot reshape {} ({} elements) to {} ({} elements)", label,
                     to_string(in.shape), element_count(in.shape), to_string(attrs.ints), count);
  return Types{{in.dtype, attrs.ints}};
}

Result<Types> infer_concat(Operands operands, Attrs& attrs, const std::string& label) {
  MIRAGE_TRY(const DType dtype, common_dtype(operands, label));
  Shape shape = operands[0].type.shape;
  MIRAGE_TRY_VOID(normalise_axis(attrs.axis, shape.size(), label));
  const size_t axis = static_cast<size_t>(attrs.axis);
  for (const OperandInfo& operand : operands.subspan(1)) {
    const Shape& other = operand.type.shape;
    bool fits = other.size() == shape.size();
    for (size_t i = 0; fits && i < shape.size(); ++i) fits = i == axis || other[i] == shape[i];
    if (!fits)
      return bad_input("{}: operands differ outside axis {}: {} and {}", label, axis,
                       to_string(operands[0].type.shape), to_string(other));
    shape[axis] += other[axis];
    MIRAGE_TRY_VOID(checked_element_count(shape, label));  // before the sum can overflow
  }
  return Types{{dtype, std::move(shape)}};
}

Result<Types> infer_narrow(Operands operands, Attrs& attrs, const std::string& label) {
  TensorType type = operands[0].type;
  MIRAGE_TRY_VOID(normalise_axis(attrs.axis, type.shape.size(), label));
  int64_t& extent = type.shape[static_cast<size_t>(attrs.axis)];
  if (attrs.ints.size() != 2) return bad_input("{}: expected start and length", label);
  const int64_t start = attrs.ints[0], length = attrs.ints[1];
  if (start < 0 || length < 0 || start > extent || length > extent - start)
    return bad_input("{}: range [{}, {} + {}) is outside axis {} of extent {}", label, start, start,
                     length, attrs.axis, extent);
  extent = length;
  return Types{std::move(type)};
}

/// Common checks of load and store: one list per axis, no block axis twice.
Result<void> check_bind(const Attrs& attrs, size_t rank, const Launch& launch,
                        const std::string& label) {
  if (attrs.bind.size() != rank)
    return bad_input("{}: expected a binding for each of {} axes, found {}", label, rank,
                     attrs.bind.size());
  std::vector<bool> used(launch.axes.size(), false);
  for (const auto& axes : attrs.bind)
    for (uint8_t axis : axes) {
      if (axis >= launch.axes.size())
        return bad_input("{}: binds a block axis that does not exist", label);
      if (used[axis])
        return bad_input("{}: block axis {} is bound twice", label, launch.axes[axis].name);
      used[axis] = true;
    }
  return {};
}

/// Bound tiles must all be non-empty: (tiles - 1) * tile < extent at every level of the split.
Result<void> check_tiles(int64_t extent, const std::vector<uint8_t>& axes, size_t dim,
                         const Launch& launch, const std::string& label) {
  for (uint8_t axis : axes) {
    const Axis& split = launch.axes[axis];
    const int64_t tile = (extent + split.trips - 1) / split.trips;
    if (extent > 0 && (split.trips - 1) * tile >= extent)
      return bad_input("{}: axis {} of extent {} does not divide over {} steps of block axis {}",
                       label, dim, extent, split.trips, split.name);
    extent = tile;
  }
  return {};
}

Result<Types> infer_load(Operands operands, const Attrs& attrs, const Launch& launch,
                         const std::string& label) {
  TensorType type = operands[0].type;
  MIRAGE_TRY_VOID(check_bind(attrs, type.shape.size(), launch, label));
  for (size_t i = 0; i < type.shape.size(); ++i) {
    MIRAGE_TRY_VOID(check_tiles(type.shape[i], attrs.bind[i], i, launch, label));
    type.shape[i] = tile_extent(type.shape[i], attrs.bind[i], launch);
  }
  return Types{std::move(type)};
}

Result<Types> infer_store(Operands operands, Attrs& attrs, const Launch& launch,
                          const std::string& label) {
  TensorType type = operands[0].type;
  MIRAGE_TRY_VOID(check_bind(attrs, type.shape.size(), launch, label));
  std::vector<bool> bound(launch.axes.size(), false);
  for (const auto& axes : attrs.bind)
    for (uint8_t axis : axes) {
      if (launch.axes[axis].role == Role::Loop)
        return bad_input("{}: a store cannot be bound to loop axis {}", label,
                         launch.axes[axis].name);
      bound[axis] = true;
    }
  for (size_t axis = 0; axis < launch.axes.size(); ++axis)
    if (launch.axes[axis].role == Role::Grid && launch.axes[axis].trips > 1 && !bound[axis])
      return bad_input(
          "{}: grid axis {} ({} blocks) is not bound: blocks would overlap in the output", label,
          launch.axes[axis].name, launch.axes[axis].trips);
  if (attrs.ints.empty()) {  // the exact shape: full tiles everywhere
    for (size_t i = 0; i < type.shape.size(); ++i) {
      attrs.ints.push_back(type.shape[i]);
      for (uint8_t axis : attrs.bind[i])
        if (__builtin_mul_overflow(attrs.ints.back(), launch.axes[axis].trips, &attrs.ints.back()))
          return bad_input("{}: axis {} of the result is too large", label, i);
    }
  }
  MIRAGE_TRY_VOID(checked_element_count(attrs.ints, label));
  if (attrs.ints.size() != type.shape.size())
    return bad_input("{}: result shape {} has another rank than the tile {}", label,
                     to_string(attrs.ints), to_string(type.shape));
  for (size_t i = 0; i < type.shape.size(); ++i) {
    MIRAGE_TRY_VOID(check_tiles(attrs.ints[i], attrs.bind[i], i, launch, label));
    if (tile_extent(attrs.ints[i], attrs.bind[i], launch) != type.shape[i])
      return bad_input("{}: tile {} does not cover axis {} of result shape {}", label,
                       to_string(type.shape), i, to_string(attrs.ints));
  }
  return Types{{type.dtype, attrs.ints}};
}

}  // namespace

Result<int64_t> checked_element_count(const Shape& shape, const std::string& label) {
  // Zero extents are checked like ones, so that [0, 2^62, 2^62] is refused as well.
  int64_t count = 1, bound = 1;
  if (shape.size() > kMaxRank)
    return bad_input("{}: rank {} is larger than {}", label, shape.size(), kMaxRank);
  for (int64_t extent : shape) {
    if (extent < 0) return bad_input("{}: negative extent in shape {}", label, to_string(shape));
    if (__builtin_mul_overflow(bound, std::max<int64_t>(extent, 1), &bound) ||
        bound > (int64_t{1} << 59))
      return bad_input("{}: shape {} is too large", label, to_string(shape));
    count *= extent;
  }
  return count;
}

Result<void> check_reach(const Shape& shape, const Strides& strides, const std::string& label) {
  int64_t reach = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t span = 0;
    if (strides[i] == INT64_MIN ||
        __builtin_mul_overflow(std::abs(strides[i]), std::max<int64_t>(shape[i], 1) - 1, &span) ||
        __builtin_add_overflow(reach, span, &reach) || reach > (int64_t{1} << 59))
      return bad_input("{}: strides [{}] are too large", label, fmt::join(strides, ", "));
  }
  return {};
}

Result<void> check_disjoint(const Shape& shape, const Strides& strides, const std::string& label) {
  std::vector<std::pair<int64_t, int64_t>>
      by_stride;  // (|stride|, extent) of axes with more than one element
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return {};
    if (strides[i] == INT64_MIN)
      return bad_input("{}: strides [{}] are too large", label, fmt::join(strides, ", "));
    if (shape[i] > 1) by_stride.emplace_back(std::abs(strides[i]), shape[i]);
  }
  std::sort(by_stride.begin(), by_stride.end());
  int64_t reach = 0;  // the largest offset that the axes so far can reach
  for (const auto& [stride, extent] : by_stride) {
    if (stride <= reach)
      return bad_input("{}: strides [{}] make elements of shape {} overlap", label,
                       fmt::join(strides, ", "), to_string(shape));
    int64_t span = 0;
    if (__builtin_mul_overflow(stride, extent - 1, &span) ||
        __builtin_add_overflow(reach, span, &reach))
      return bad_input("{}: strides [{}] are too large", label, fmt::join(strides, ", "));
  }
  return {};
}

Result<std::vector<TensorType>> infer_types(OpKind kind, Operands operands, Attrs& attrs,
                                            const Launch& launch, const std::string& label) {
  const OpDef& row = def(kind);
  if (row.arity >= 0 ? operands.size() != static_cast<size_t>(row.arity) : operands.empty())
    return bad_input("{}: expected {} operand{}, found {}", label,
                     row.arity >= 0 ? std::to_string(row.arity) : "one or more",
                     row.arity == 1 ? "" : "s", operands.size());
  for (double scalar : attrs.scalars)
    if (std::isnan(scalar)) return bad_input("{}: a scalar attribute is NaN", label);
  Result<Types> types = [&]() -> Result<Types> {
    switch (kind) {
      case OpKind::Const:
        if (attrs.scalars.size() != 1) return bad_input("{}: expected one value", label);
        return Types{{DType::F64, {}}};
      case OpKind::Extent:
        MIRAGE_TRY_VOID(normalise_axis(attrs.axis, operands[0].type.shape.size(), label));
        return Types{{DType::F64, {}}};
      case OpKind::MatMul:
        return infer_matmul(operands, label);
      case OpKind::Transpose:
        return infer_transpose(operands, attrs, label);
      case OpKind::Reshape:
        return infer_reshape(operands, attrs, label);
      case OpKind::Concat:
        return infer_concat(operands, attrs, label);
      case OpKind::Narrow:
        return infer_narrow(operands, attrs, label);
      case OpKind::Load:
        return infer_load(operands, attrs, launch, label);
      case OpKind::Store:
        return infer_store(operands, attrs, launch, label);
      case OpKind::Accum:
        if (attrs.combine == Combine::None)
          return bad_input("{}: expected sum, mean or max", label);
        return Types{operands[0].type};
      case OpKind::AccumRescale: {
        MIRAGE_TRY(Types product, infer_map(operands, attrs, row, label));
        if (product[0].shape != operands[0].type.shape)
          return bad_input("{}: factor {} does not broadcast to {}", label,
                           to_string(operands[1].type.shape), to_string(operands[0].type.shape));
        return product;
      }
      case OpKind::RunningMax:
      case OpKind::RunningGauge: {
        MIRAGE_TRY(Types reduced, infer_reduce(operands, attrs, label));
        reduced.push_back(reduced[0]);
        return reduced;
      }
      default:
        break;
    }
    if (row.form == Form::Reduce) return infer_reduce(operands, attrs, label);
    MIRAGE_CHECK(row.form == Form::Map, "operator without a shape rule");
    return infer_map(operands, attrs, row, label);
  }();
  if (!types) return types;
  for (const TensorType& type : *types) MIRAGE_TRY_VOID(checked_element_count(type.shape, label));
  return types;
}

}  // namespace mirage::ir
