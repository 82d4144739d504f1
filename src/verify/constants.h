#pragma once
// Literals that may stand for extents (4096, 1/4096, 1/sqrt(64)): they mean something else in the
// small model.

#include "ir/graph.h"
#include "util/result.h"

namespace mirage::verify {

/// A literal of either graph is an extent, a number of steps, a product of two of them, the root of
/// one, or the inverse of these.
bool has_extent_constants(const ir::Graph& reference, const ir::Graph& candidate);

/// The graph with each such literal at kernel or block level replaced by its function of `extent`,
/// where a value with an axis of that extent is at hand.
Result<ir::GraphPtr> tie_constants(const ir::Graph& graph);

}  // namespace mirage::verify
