#include "lower/staged_tile.h"

#include <algorithm>

namespace mirage::lower {
namespace {

constexpr int64_t kEngineAlignment = 16;  // bytes: starts and strides
constexpr size_t kMostDims = 4;
constexpr int64_t kMostBox = 256;  // elements along a dimension

/// Elements of the operand's tile along a dimension of its parameter.
int64_t tile_extent(const Param& param, const Operand& operand, size_t dim) {
  for (size_t i = 0; i < operand.lengths.size(); ++i)
    if (operand.lengths[i].max > 1 && operand.strides[i] == param.strides[dim])
      return operand.lengths[i].max;
  return 1;
}

/// Rows of 128, 64 or 32 bytes are permuted on the way, which lets eight rows be read at once; most
/// other widths share banks between two rows at worst.
int64_t box_width(int64_t columns) {
  for (int64_t width : {64, 32})
    if (columns % width == 0) return width;
  return columns;
}

}  // namespace

int64_t StagedTile::bytes() const { return rows * columns * 2; }

Result<StagedTile> stage_tile(const KernelPlan& plan, const Operand& operand) {
  const Param& param = plan.params[operand.index];
  const std::string& name = param.name;
  if (ir::bytes_of(param.dtype) != 2)
    return unsupported("{}: elements of {} bytes are not staged", name, ir::bytes_of(param.dtype));
  if (operand.offset != 0) return unsupported("{}: a part of a tile is not staged", name);
  if (param.offset * 2 % kEngineAlignment != 0)
    return unsupported("{}: does not start at a multiple of {} bytes", name, kEngineAlignment);
  StagedTile tile;
  tile.param = operand.index;
  std::vector<size_t> dims;
  for (size_t dim = 0; dim < param.shape.size(); ++dim)
    if (param.shape[dim] > 1) dims.push_back(dim);
  std::stable_sort(dims.begin(), dims.end(),
                   [&](size_t a, size_t b) { return param.strides[a] < param.strides[b]; });
  if (dims.empty() || param.strides[dims[0]] != 1)
    return unsupported("{}: no dimension whose elements are neighbours", name);
  if (dims.size() > kMostDims)
    return unsupported("{}: more than {} dimensions are not staged", name, kMostDims);
  tile.row_dim = dims.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t dim = dims[i];
    if (i > 0 && (param.strides[dim] * 2 % kEngineAlignment != 0 || param.strides[dim] <= 0))
      return unsupported("{}: a stride of {} elements", name, param.strides[dim]);
    StagedTile::Dim staged{static_cast<uint8_t>(dim), tile_extent(param, operand, dim)};
    if (i == 0) {
      tile.columns = staged.box;
      staged.box = tile.width = box_width(tile.columns);
    } else if (staged.box > 1) {
      if (tile.row_dim != dims.size()) return unsupported("{}: a tile of three extents", name);
      tile.row_dim = i;
      tile.rows = staged.box;
    }
    if (staged.box > kMostBox)
      return unsupported("{}: {} elements along a dimension in one copy", name, staged.box);
    for (const AxisStride& move : operand.moves)
      if (move.dim == dim)
        staged.moves.push_back({move.axis, move.stride / param.strides[dim], move.dim});
    tile.dims.push_back(std::move(staged));
  }
  if (tile.columns % 8 != 0)
    return unsupported("{}: rows of {} elements are not whole pieces of 16 bytes", name,
                       tile.columns);
  int64_t covered = 1;
  for (const Length& length : operand.lengths) covered *= length.max;
  if (covered != tile.rows * tile.columns)
    return unsupported("{}: a tile that repeats elements", name);
  const int64_t align = tile.width <= 64 ? 1024 : 128;
  tile.box_bytes = (tile.rows * tile.width * 2 + align - 1) / align * align;
  return tile;
}

}  // namespace mirage::lower
