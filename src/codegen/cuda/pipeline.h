#pragma once
// Kernels with a Pipeline: a warp that feeds a ring of stages, warps that walk the loop with its
// values in registers (device/cuda/fragment.h), and the merging of their parts.

#include "codegen/source_unit.h"
#include "codegen/steps.h"

namespace mirage::codegen {

/// The body of the kernel; expects what emit_phases does, and `memory`, the address of the ring.
void emit_pipeline(Writer& out, const lower::KernelPlan& plan, const Dialect& dialect);

/// What the kernel's tensor maps describe, in the order of its parameters m0, m1, ...
std::vector<TensorMap> tensor_maps(const lower::KernelPlan& plan);

}  // namespace mirage::codegen
