#pragma once
// Tiles of parameters as boxes that the copy engine can bring.

#include "lower/program.h"
#include "util/result.h"

namespace mirage::lower {

/// The staged form of a parameter's tile, without its offset. `Unsupported` where the copy engine
/// cannot fetch it: neighbours that are not neighbours in memory, strides or starts that are not
/// multiples of 16 bytes, more than 4 dimensions, tiles with more than two extents above 1.
Result<StagedTile> stage_tile(const KernelPlan& plan, const Operand& operand);

}  // namespace mirage::lower
