#include "interp/shapes.h"

#include <algorithm>

namespace mirage::interp {

Result<void> broadcast(std::span<const OperandShape> operands, const ir::Shape& declared_result,
                       size_t rank, size_t trailing, Broadcast& plan) {
  plan.extents.resize(rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t extent = -1;   // set by operands that are not repeated along this axis
    int64_t repeated = 1;  // 0 if a repeated operand is empty
    for (const OperandShape& operand : operands) {
      const size_t own = operand.actual->size() - trailing;
      if (i + own < rank) continue;
      const size_t axis = i + own - rank;
      const int64_t actual = (*operand.actual)[axis];
      if ((*operand.declared)[axis] == 1 && declared_result[i] != 1) {
        repeated = std::min(repeated, actual);
        continue;
      }
      if (extent >= 0 && extent != actual)
        return unsupported("a short tile ({} elements) meets one of {} elements along axis {}",
                           std::min(extent, actual), std::max(extent, actual), i);
      extent = actual;
    }
    plan.extents[i] = extent < 0 ? repeated : extent * repeated;
  }
  for (size_t k = 0; k < operands.size(); ++k) {
    const ir::Shape& actual = *operands[k].actual;
    const size_t own = actual.size() - trailing;
    int64_t step = 1;
    for (size_t i = actual.size(); i-- > own;) step *= actual[i];
    for (size_t i = rank; i-- > 0;) {
      if (i + own < rank) {
        plan.steps[k][i] = 0;
        continue;
      }
      const size_t axis = i + own - rank;
      plan.steps[k][i] = (*operands[k].declared)[axis] == 1 ? 0 : step;
      step *= actual[axis];
    }
  }
  return {};
}

Result<ir::Shape> reshaped(const OperandShape& operand, const ir::Shape& declared_result) {
  const ir::Shape& declared = *operand.declared;
  const ir::Shape& actual = *operand.actual;
  if (actual == declared) return declared_result;
  // Groups of axes of equal products, from the left; only the first axis of a group may be short.
  ir::Shape result = declared_result;
  size_t i = 0, j = 0;
  while (i < declared.size() || j < declared_result.size()) {
    const size_t first_i = i, first_j = j;
    int64_t in = i < declared.size() ? declared[i++] : 1;
    int64_t out = j < declared_result.size() ? declared_result[j++] : 1;
    while (in != out) {
      if (in < out && i < declared.size())
        in *= declared[i++];
      else if (j < declared_result.size())
        out *= declared_result[j++];
      else
        return unsupported("reshape of a short tile");
    }
    bool is_short = false;
    int64_t count = 1;
    for (size_t k = first_i; k < i; ++k) {
      is_short |= actual[k] != declared[k];
      if (k > first_i && actual[k] != declared[k]) return unsupported("reshape of a short tile");
      count *= actual[k];
    }
    if (!is_short) continue;
    int64_t rest = 1;
    for (size_t k = first_j + 1; k < j; ++k) rest *= declared_result[k];
    if (first_j == j || rest == 0 || count % rest != 0)
      return unsupported("reshape of a short tile");
    result[first_j] = count / rest;
  }
  return result;
}

Tile tile_at(int64_t extent, const std::vector<uint8_t>& axes, const ir::Launch& launch,
             std::span<const int64_t> point) {
  Tile tile{0, extent};
  int64_t nominal = extent;
  for (uint8_t axis : axes) {
    const int64_t trips = launch.axes[axis].trips;
    nominal = (nominal + trips - 1) / trips;
    const int64_t offset = std::min(point[axis] * nominal, tile.length);
    tile.start += offset;
    tile.length = std::min(nominal, tile.length - offset);
  }
  return tile;
}

}  // namespace mirage::interp
