#pragma once
// How large a small model must be: the binder weights of Theorem S per index class.

#include <map>

#include "verify/classes.h"

namespace mirage::verify {

using Weights = std::map<AtomId, int64_t>;  // by class; 0 if missing

/// Weights of a quotient: of its numerator and its denominator.
struct QuotientWeights {
  Weights top, bottom;
};

/// For each output, and for each argument of a non-polynomial function anywhere inside: weights and
/// free indices. One entry a class: the largest numerator + free indices, and the largest
/// denominator.
struct SizeDemand {
  Weights top;     // numerator binders + free indices
  Weights bottom;  // denominator binders
};
SizeDemand size_demand(const ir::Graph& graph, const GraphAtoms& atoms, const Classes& classes);

}  // namespace mirage::verify
