#pragma once
// Single-step changes of graphs: mutants, most of which compute something else, and rewrites, all
// of which compute the same. Shared by tests and by bench/verify_mutants.

#include <string>
#include <vector>

#include "ir/graph.h"
#include "util/rng.h"

namespace mirage::testing {

struct Changed {
  std::string what;
  ir::GraphPtr graph;
};

/// Every mutant that is still a well-formed graph with the same inputs and output shapes.
std::vector<Changed> mutants(const ir::Graph& graph);

/// `steps` random rewrites by laws of arithmetic, or null if none applies.
Changed rewritten(const ir::GraphPtr& graph, Rng& rng, int steps);

}  // namespace mirage::testing
