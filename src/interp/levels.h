#pragma once
// How deep exponentials are nested: a value over a chain of primes carries as many residues as
// there are exponentials between it and an output, plus one.

#include <vector>

#include "ir/graph.h"

namespace mirage::interp {

/// Nesting of exp inside one operator (silu: 1).
int exp_depth(ir::OpKind kind);

/// Residue levels each value of the graph must carry, by ValueId, when its outputs need these
/// (default: one each).
std::vector<int> needed_levels(const ir::Graph& graph, std::vector<int> outputs = {});

/// The most levels any value needs: 1 + the nesting of exp.
int chain_length(const ir::Graph& graph);

}  // namespace mirage::interp
