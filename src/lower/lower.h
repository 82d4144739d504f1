#pragma once
// Graph -> Program for one target. Kernel-level operators become a launch each (moves become views
// where strides allow), `block` operators a kernel of steps.

#include "ir/graph.h"
#include "lower/program.h"
#include "util/result.h"

namespace mirage::lower {

struct LowerOptions {
  bool make_safe = true;      // rewrite exponentials with a gauge first (gauge.h)
  bool may_use_blas = false;  // matmuls of kernel level may go to a vendor library if there is one
};

/// Unsupported names what the target cannot do; a graph that verified lowers otherwise.
Result<Program> lower(const ir::GraphPtr& graph, const Target& target,
                      const LowerOptions& options = {});

}  // namespace mirage::lower
