#pragma once
// Extents while a graph is evaluated. At the edge of a ragged split tiles are shorter than their
// types say ("declared"); these rules give the extents of results from those of operands.

#include <array>
#include <span>

#include "ir/graph.h"
#include "util/result.h"

namespace mirage::interp {

struct OperandShape {
  const ir::Shape* actual;
  const ir::Shape* declared;
};

using Steps = std::array<int64_t, ir::kMaxRank>;

/// Iteration over the elements of a broadcast result: extents, and for each operand the step of
/// each axis in its row-major elements (0 where it is repeated).
struct Broadcast {
  ir::Shape extents;
  std::array<Steps, 2> steps;
};

/// Axes [0, rank) of the result; for a matrix product the batch axes (operands are then cut by
/// two).
Result<void> broadcast(std::span<const OperandShape> operands, const ir::Shape& declared_result,
                       size_t rank, size_t trailing, Broadcast& plan);

/// The extents of a reshape of a possibly short tile.
Result<ir::Shape> reshaped(const OperandShape& operand, const ir::Shape& declared_result);

/// Start and length of a tile of an axis of this extent, split by block axes with these points.
struct Tile {
  int64_t start = 0;
  int64_t length = 0;
};
Tile tile_at(int64_t extent, const std::vector<uint8_t>& axes, const ir::Launch& launch,
             std::span<const int64_t> point);

}  // namespace mirage::interp
