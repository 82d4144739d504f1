#pragma once
// Random well-formed graphs for property tests: every operator of the table, blocks, strides,
// ragged tiles, repeated outputs, odd names. Equal seeds give equal graphs.

#include "ir/builder.h"
#include "util/rng.h"

namespace mirage::testing {

struct RandomGraphOptions {
  int operators = 12;  // attempts; those that do not fit are left out
  bool blocks = true;  // graph-defined operators too
  bool odd_names = true;
};

ir::GraphPtr random_graph(Rng& rng, const RandomGraphOptions& options = {});

/// MIRAGE_SEED from the environment, or a fixed seed; prints it.
uint64_t announced_seed();

}  // namespace mirage::testing
