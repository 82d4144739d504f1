#pragma once
// What the form of a value says about its sign, told to the field. A field has no order, but half
// of its numbers are squares, and the verdict of a pair with roots is about inputs whose radicands
// are squares, as over the reals about those where they are not negative. A value that is never
// negative (x^2 + 1) may be held to the same: then sqrt((x^2 + 1)^2) is x^2 + 1 there as well.

#include "ir/graph.h"
#include "util/result.h"

namespace mirage::verify {

/// `graph`, a small model, with the root of every kernel-level value that is multiplied with itself
/// and never negative by its form. No output reads these roots. Inputs after the first
/// `inputs` are multiplicities, which are positive. The graph itself if there are no such values.
Result<ir::GraphPtr> with_known_signs(const ir::GraphPtr& graph, size_t inputs);

}  // namespace mirage::verify
