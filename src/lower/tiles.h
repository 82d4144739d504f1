#pragma once
// How many elements the tiles of a block graph have along each axis, at every grid point and loop
// step: fixed where an axis divides, a Ragged otherwise.

#include <vector>

#include "ir/graph.h"
#include "lower/program.h"
#include "util/result.h"

namespace mirage::lower {

using Lengths = std::vector<Length>;

struct TileLengths {
  std::vector<Lengths> values;  // by ValueId; block operands have their whole extents
  std::vector<Ragged> ragged;   // what Length::ragged counts
  std::vector<Lengths> stores;  // by ValueId of a store's result: the tile that is written
};

/// Unsupported where a tile would be ragged in a way that the steps cannot follow.
Result<TileLengths> tile_lengths(const ir::Graph& block);

/// How far a tile of a parameter is from its first element, for every block axis that splits it.
std::vector<AxisStride> tile_moves(const Param& param, const ir::Bind& bind,
                                   const ir::Launch& launch);

/// The strides that walk a tensor over `lengths` with broadcasting: aligned at the last axis, 0
/// where the tensor has one element.
ir::Strides broadcast_strides(const Lengths& tensor, const ir::Strides& strides,
                              const Lengths& lengths);

}  // namespace mirage::lower
