#pragma once
// Literals that may stand for extents (4096, 1/4096, 1/sqrt(64)): they mean something else in the
// small model.

#include "ir/graph.h"
#include "util/result.h"

namespace mirage::verify {

/// A literal of either graph is an extent, a number of steps, a product of two of them, the root of
/// one, or the inverse of these.
bool has_extent_constants(const ir::Graph& reference, const ir::Graph& candidate);

/// The graph with literals replaced by their function of `extent`, where an input of the graph, or
/// of the body that the literal is in, has an axis of that extent. Products of two extents stay.
/// All element types are f64: only the field evaluates the result.
Result<ir::GraphPtr> tie_constants(const ir::Graph& graph);

}  // namespace mirage::verify
