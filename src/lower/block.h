#pragma once
// One block graph -> one kernel: steps by phase, scratch memory, views.

#include <span>

#include "ir/graph.h"
#include "lower/program.h"
#include "util/result.h"

namespace mirage::lower {

/// `inputs` and `outputs` are what the block's operands and stores are in memory.
Result<KernelPlan> lower_block(const ir::GraphPtr& block, std::vector<Param> inputs,
                               std::vector<Param> outputs, std::string name, const Target& target);

/// Unsupported unless this back end stores the type.
Result<void> check_storage(ir::DType dtype, std::string_view what);

}  // namespace mirage::lower
