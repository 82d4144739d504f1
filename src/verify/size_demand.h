#pragma once
// How large a small model must be (Theorem S, docs/verify.md): for each index class how many of its
// axes are free or bound by a sum at once.

#include <map>

#include "verify/classes.h"

namespace mirage::verify {

using BinderCounts = std::map<AtomId, int64_t>;  // by class; 0 if missing

/// Binders in the numerator and in the denominator of a value.
struct QuotientBinders {
  BinderCounts top, bottom;
};

/// The largest over the outputs and the arguments of functions that are not rational.
struct SizeDemand {
  BinderCounts top;     // binders of the numerator, and free indices
  BinderCounts bottom;  // binders of the denominator
};
SizeDemand size_demand(const ir::Graph& graph, const GraphAtoms& atoms, const Classes& classes);

}  // namespace mirage::verify
