#pragma once
// Literals that may stand for extents (4096, 1/4096, 1/sqrt(64)), and sums of summands that do not
// depend on the index: what the small-size theorem must be told about.

#include "ir/graph.h"
#include "util/result.h"

namespace mirage::verify {

/// A literal of either graph is an extent, its root, or the inverse of one.
bool has_extent_constants(const ir::Graph& reference, const ir::Graph& candidate);

/// The graph with each such literal at kernel or block level replaced by its function of `extent`,
/// where a value with an axis of that extent is at hand.
Result<ir::GraphPtr> tie_constants(const ir::Graph& graph);

/// Some reduction may sum terms that do not depend on its index.
bool has_dead_binders(const ir::Graph& reference, const ir::Graph& candidate);

}  // namespace mirage::verify
