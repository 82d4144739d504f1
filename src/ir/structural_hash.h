#pragma once
// Structural identity: wiring, types, strides, attributes, launch, bodies and outputs. Names do not
// count.

#include "ir/graph.h"

namespace mirage::ir {

Hash128 structural_hash(const Graph& graph);

}  // namespace mirage::ir
