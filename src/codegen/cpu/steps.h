#pragma once
// One step of a kernel as text: a call into device/cpu, inside loops where the call does not take
// all axes.

#include "codegen/writer.h"
#include "lower/program.h"

namespace mirage::codegen::cpu {

/// Names that kernels use: axes, ragged lengths, parameters, scratch.
std::string axis_name(const lower::KernelPlan& plan, uint8_t axis);
std::string ragged_name(int ragged);
std::string param_name(const lower::KernelPlan& plan, size_t index);
std::string scratch_name(const lower::KernelPlan& plan, size_t index);

void emit_step(Writer& out, const lower::KernelPlan& plan, const lower::Step& step);

}  // namespace mirage::codegen::cpu
