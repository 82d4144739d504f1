#pragma once
// A product as a call of device/cpu/gemm.h, or of a vendor's library where there is one.

#include "codegen/writer.h"
#include "lower/program.h"

namespace mirage::codegen::cpu {

void emit_matmul(Writer& out, const lower::KernelPlan& plan, const lower::Step& step);

}  // namespace mirage::codegen::cpu
