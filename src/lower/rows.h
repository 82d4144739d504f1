#pragma once
// Whether a kernel can hold its rows in registers (RowPlan, program.h), and how they are dealt out.

#include "lower/program.h"
#include "lower/target.h"
#include "util/result.h"

namespace mirage::lower {

/// Unsupported with the reason where a step is not elementwise or a reduction over columns, where
/// columns are not neighbours in memory, or where a row is too long.
Result<RowPlan> plan_rows(const KernelPlan& plan, const Target& target);

}  // namespace mirage::lower
