#pragma once
// The small model with multiplicities: every position i of an index class stands for w(i) equal
// ones, so sums weigh their summands and an extent is the sum of its class's weights. An equality
// for all sizes holds for positive whole w, hence for any; with random w from a field, summands
// that do not depend on the index, and extents that are equal in one small model, cannot hide a
// difference (Theorem S, docs/verify.md).

#include "ir/graph.h"
#include "util/result.h"
#include "verify/classes.h"

namespace mirage::verify {

/// `graph`, a small model whose axes have these atoms, with one more input for each group of
/// classes (that are neither sums nor products, and equally long): its weights. Only the field
/// evaluates the result: element types are all f64. Unsupported where an axis needs weights and
/// there are no groups.
Result<ir::GraphPtr> with_multiplicities(const ir::Graph& graph, const GraphAtoms& atoms,
                                         const Classes& classes,
                                         const std::vector<AxisAtoms>& groups);

}  // namespace mirage::verify
