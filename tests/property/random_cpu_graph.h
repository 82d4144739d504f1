#pragma once
// Random programs: operators are tried on random values, the builder keeps what is legal.

#include "ir/graph.h"
#include "util/rng.h"

namespace mirage::testing {

/// Kernel-level operators of every form over inputs of odd shapes and any strides.
ir::GraphPtr random_kernel_graph(Rng& rng, ir::DType dtype);

/// One block over a random grid and loop, ragged tiles included.
ir::GraphPtr random_block_graph(Rng& rng, ir::DType dtype);

}  // namespace mirage::testing
