#pragma once
// How large the tiles of a block are in Triton, where every extent is a power of two. Axes that
// meet in an operator share a class and with it a size, the number of lanes along them; lanes from
// the tile's length on hold anything. An axis of one element has one lane and is left out of the
// tile's shape, unless a product wants more: then all its lanes hold the same.

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "lower/tiles.h"

namespace mirage::codegen::triton {

struct TileAxes {
  std::vector<std::vector<size_t>> classes;  // by ValueId, by axis
  std::vector<int64_t> sizes;                // by class: lanes
  std::vector<bool> uses_dot;                // by OpId: products that tl.dot does

  int64_t size(ir::ValueId value, size_t axis) const { return sizes[classes[value.index][axis]]; }
  /// By axis: whether the tile's shape has it.
  std::vector<bool> kept(ir::ValueId value) const;
  /// The tile's shape.
  std::vector<int64_t> shape(ir::ValueId value) const;
};

/// Neighbouring axes of more than one element that a reshape turns into others.
struct ReshapeGroup {
  std::vector<size_t> from, to;
};
std::vector<ReshapeGroup> reshape_groups(const lower::Lengths& from, const lower::Lengths& to);

/// Axes of all values of a block; `is_live` by OpId.
TileAxes tile_axes(const ir::Graph& block, const lower::TileLengths& tiles,
                   const std::vector<bool>& is_live);

}  // namespace mirage::codegen::triton
