#pragma once
// Which graphs are not defined for all inputs. Derived from the operators' bodies, so that a new
// row of the op table needs no word here.

#include "ir/graph.h"

namespace mirage::verify {

/// Whether an operator of the graph, or of a body in it, divides by what may vanish, or takes a
/// root, a logarithm or a power of what may be negative, when nothing is known of its operands.
bool is_partial(const ir::Graph& graph);

}  // namespace mirage::verify
