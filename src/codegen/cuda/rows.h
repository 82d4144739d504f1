#pragma once
// The body of a kernel that holds its rows in registers, as text over device/cuda/rows.h.

#include "codegen/source_unit.h"
#include "codegen/writer.h"
#include "lower/program.h"

namespace mirage::codegen {

/// Opens no scope of its own; declares `item`.
void emit_rows(Writer& out, const lower::KernelPlan& plan);

/// Blocks of the launch.
int64_t row_blocks(const lower::KernelPlan& plan);

/// What the kernel's loads and stores ask of the addresses of buffers; `unit` has them all.
void align_buffers(SourceUnit& unit, const lower::KernelPlan& plan);

}  // namespace mirage::codegen
