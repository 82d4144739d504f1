#pragma once
// Whether a kernel's loop can be walked by warps with its values in registers and its tiles staged
// ahead of their use (Pipeline, program.h), and how.

#include "lower/program.h"
#include "lower/target.h"
#include "util/result.h"

namespace mirage::lower {

/// Everything but the number of stages. Unsupported with the reason where a step of the loop is not
/// of the forms that registers can hold: products that contract the walked class or carry it as
/// columns, elementwise chains, reductions over the walked class, running maxima.
Result<Pipeline> plan_pipeline(const KernelPlan& plan, const Target& target);

/// As many stages as a block's shared memory holds beside the kernel's scratch memory.
/// LimitExceeded where that is fewer than two, or less than the sums of all warps need in the end.
Result<void> fit_stages(Pipeline& pipeline, const KernelPlan& plan, const Target& target);

}  // namespace mirage::lower
