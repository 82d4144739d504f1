#include "lower/operators.h"

#include <algorithm>
#include <optional>

#include "ir/builder.h"

namespace mirage::lower {
namespace {

using ir::GraphBuilder;
using ir::OpKind;
using ir::ValueId;

constexpr int64_t kSmallProduct = 1 << 20;  // multiplications that are one work item
constexpr int64_t kShortestRun = 32;        // columns of a product

/// Trips near `wanted` that leave no empty tile.
int64_t legal_trips(int64_t extent, int64_t wanted) {
  if (extent <= 1 || wanted <= 1) return 1;
  const int64_t tile = (extent + wanted - 1) / std::min(wanted, extent);
  return (extent + tile - 1) / tile;
}

struct Grid {
  ir::Launch launch;
  ir::Bind bind;  // one axis at most for each axis of the result
};

void split(Grid& grid, size_t axis, int64_t trips) {
  if (trips <= 1) return;
  grid.bind[axis] = {static_cast<uint8_t>(grid.launch.axes.size())};
  grid.launch.axes.push_back({fmt::format("g{}", axis), ir::Role::Grid, trips});
}

/// Splits outer axes until there are enough items of enough work. `skip`: an axis that stays whole.
Grid elementwise_grid(const ir::Shape& shape, int64_t work, size_t skip, const Target& target) {
  Grid grid;
  grid.bind.resize(shape.size());
  int64_t items = std::clamp<int64_t>(work / target.grain, 1, target.most_items);
  for (size_t axis = 0; axis < shape.size() && items > 1; ++axis) {
    if (axis == skip) continue;
    // The last axis is cut in long runs only.
    const int64_t most = axis + 1 == shape.size() ? shape[axis] / 256 : shape[axis];
    const int64_t trips = legal_trips(shape[axis], std::min(items, most));
    split(grid, axis, trips);
    items = (items + trips - 1) / trips;
  }
  return grid;
}

/// `b_bytes`: the right operand of one product.
Grid matmul_grid(const ir::Shape& result, int64_t depth, int64_t b_bytes, const Target& target) {
  Grid grid;
  const size_t rank = result.size();
  grid.bind.resize(rank);
  const int64_t m = result[rank - 2], n = result[rank - 1];
  // Items even out what cores differ in, but each packs its rows of A again: where B stays in the
  // caches there is little to even out.
  const MemoryLevel* const cache = level_named(target, "L2");
  const int64_t wanted = (cache && b_bytes <= cache->bytes ? 1 : 8) * target.units;
  int64_t items = 1;
  for (size_t axis = 0; axis + 2 < rank; ++axis) {
    split(grid, axis, result[axis]);
    items *= std::max<int64_t>(result[axis], 1);
  }
  if (target.product_depth > 0) {
    const auto trips = [](int64_t extent, int64_t tile) {
      return legal_trips(extent, (extent + tile - 1) / tile);
    };
    split(grid, rank - 2, trips(m, target.product_rows));
    split(grid, rank - 1, trips(n, target.product_columns));
    return grid;
  }
  if (m * n * depth < kSmallProduct) return grid;
  const int64_t m_trips = legal_trips(m, (m + target.product_rows - 1) / target.product_rows);
  split(grid, rank - 2, m_trips);
  items *= m_trips;
  if (items < wanted) {
    const int64_t shortest = m <= 2 * target.tile_rows
                                 ? target.product_columns
                                 : std::min<int64_t>(target.product_columns, 128);
    int64_t tile = std::max(shortest, n * items / wanted);
    tile = (tile + 63) / 64 * 64;
    // Short runs of a row are better than an idle core.
    if (n <= tile && items < target.units)
      tile = std::max(kShortestRun,
                      (n * items / target.units + kShortestRun - 1) / kShortestRun * kShortestRun);
    split(grid, rank - 1, legal_trips(n, (n + tile - 1) / tile));
  }
  return grid;
}

/// Adds a loop in steps of about `run` elements; nothing where one step takes the whole extent.
std::optional<uint8_t> add_loop(Grid& grid, int64_t extent, int64_t run) {
  const int64_t trips = legal_trips(extent, (extent + run - 1) / run);
  if (trips <= 1) return std::nullopt;
  grid.launch.axes.push_back({"i", ir::Role::Loop, trips});
  return static_cast<uint8_t>(grid.launch.axes.size() - 1);
}

/// The loop over the axis that an operator sums, where the target wants one.
std::optional<uint8_t> inner_loop(Grid& grid, const ir::Op& op, const ir::Shape& lhs,
                                  const Target& target) {
  const ir::Form form = ir::def(op.kind).form;
  if (form == ir::Form::Contract && target.product_depth > 0)
    return add_loop(grid, lhs.back(), target.product_depth);
  if (form != ir::Form::Reduce || target.reduction_tile == 0) return std::nullopt;
  const size_t axis = static_cast<size_t>(op.attrs.axis);
  int64_t others = 1;
  for (size_t i = 0; i < lhs.size(); ++i)
    if (i != axis)
      others *= std::max<int64_t>(1, ir::tile_extent(lhs[i], grid.bind[i], grid.launch));
  return add_loop(grid, lhs[axis], std::max<int64_t>(1, target.reduction_tile / others));
}

/// A sum, mean or maximum of which each loop step has seen a part.
Result<ValueId> in_loop(GraphBuilder& builder, const ir::Op& op, std::span<const ValueId> operands,
                        int64_t extent) {
  const ir::Combine combine = ir::def(op.kind).combine;
  const bool is_max = combine == ir::Combine::Max;
  const bool is_product = ir::def(op.kind).form == ir::Form::Contract;
  const OpKind part = is_product ? op.kind : is_max ? OpKind::Max : OpKind::Sum;
  MIRAGE_TRY(ValueId value, builder.add(part, operands, op.attrs));
  ir::Attrs attrs;
  attrs.combine = is_max ? ir::Combine::Max : ir::Combine::Sum;
  MIRAGE_TRY(value, builder.add(OpKind::Accum, {value}, attrs));
  if (combine == ir::Combine::Mean) {
    MIRAGE_TRY(const ValueId count, builder.constant(static_cast<double>(extent)));
    return builder.add(OpKind::Div, {value, count});
  }
  if (op.kind == OpKind::GaugeMax) return builder.add(op.kind, {value}, op.attrs);
  return value;
}

/// How an operand of `shape` is loaded for a result bound by `bind`: aligned at the last axis,
/// broadcast axes whole.
ir::Bind aligned_bind(const ir::Shape& shape, const ir::Shape& result, const ir::Bind& bind) {
  ir::Bind mine(shape.size());
  const size_t offset = result.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == result[offset + i]) mine[i] = bind[offset + i];
  return mine;
}

Result<ValueId> load(GraphBuilder& builder, const ir::TensorType& type, ir::Bind bind) {
  MIRAGE_TRY(const ValueId input, builder.input(type));
  ir::Attrs attrs;
  attrs.bind = std::move(bind);
  return builder.add(OpKind::Load, {input}, std::move(attrs));
}

Result<ir::GraphPtr> store(GraphBuilder& builder, ValueId value, const ir::Shape& shape,
                           ir::Bind bind) {
  ir::Attrs attrs;
  attrs.bind = std::move(bind);
  attrs.ints = shape;
  MIRAGE_TRY_VOID(builder.add(OpKind::Store, {value}, std::move(attrs)));
  return builder.finish();
}

}  // namespace

Result<ir::GraphPtr> as_block(const ir::Op& op, std::span<const BlockOperand> operands,
                              const ir::TensorType& result, const Target& target) {
  const ir::Form form = ir::def(op.kind).form;
  const size_t rank = result.shape.size();
  Grid grid;
  ir::Shape walked = result.shape;  // iteration space whose axes are bound
  if (form == ir::Form::Contract) {
    const ir::Shape& b = operands[1].type.shape;
    const int64_t b_bytes = b[b.size() - 2] * b.back() * ir::bytes_of(operands[1].type.dtype);
    grid = matmul_grid(result.shape, operands[0].type.shape.back(), b_bytes, target);
  } else if (form == ir::Form::Reduce) {
    walked = operands[0].type.shape;
    grid = elementwise_grid(walked, ir::element_count(walked), static_cast<size_t>(op.attrs.axis),
                            target);
  } else {
    grid = elementwise_grid(walked, ir::element_count(walked), rank, target);
  }
  const ir::Shape& lhs = operands[0].type.shape;
  const std::optional<uint8_t> loop = inner_loop(grid, op, lhs, target);
  MIRAGE_TRY(GraphBuilder builder, GraphBuilder::block(grid.launch));
  std::vector<ValueId> values;
  for (size_t i = 0; i < operands.size(); ++i) {
    const BlockOperand& operand = operands[i];
    if (operand.is_scalar) {
      MIRAGE_TRY(const ValueId value, builder.constant(operand.value));
      values.push_back(value);
      continue;
    }
    ir::Bind bind = aligned_bind(operand.type.shape, walked, grid.bind);
    if (form == ir::Form::Contract) {
      bind[i == 0 ? rank - 1 : rank - 2].clear();
      if (loop) bind[i == 0 ? rank - 1 : rank - 2].push_back(*loop);
    } else if (loop) {
      bind[static_cast<size_t>(op.attrs.axis)].push_back(*loop);
    }
    MIRAGE_TRY(const ValueId value, load(builder, operand.type, std::move(bind)));
    values.push_back(value);
  }
  const int64_t inner =
      form == ir::Form::Reduce ? lhs[static_cast<size_t>(op.attrs.axis)] : int64_t{0};
  MIRAGE_TRY(const ValueId value,
             loop ? in_loop(builder, op, values, inner) : builder.add(op.kind, values, op.attrs));
  return store(builder, value, result.shape, grid.bind);
}

Result<ir::GraphPtr> copy_block(const ir::TensorType& type, const Target& target) {
  const Grid grid =
      elementwise_grid(type.shape, ir::element_count(type.shape), type.shape.size(), target);
  MIRAGE_TRY(GraphBuilder builder, GraphBuilder::block(grid.launch));
  MIRAGE_TRY(const ValueId value, load(builder, type, grid.bind));
  return store(builder, value, type.shape, grid.bind);
}

Result<ir::GraphPtr> scalar_block(double value) {
  MIRAGE_TRY(GraphBuilder builder, GraphBuilder::block({}));
  MIRAGE_TRY(const ValueId scalar, builder.constant(value));
  return store(builder, scalar, {}, {});
}

}  // namespace mirage::lower
