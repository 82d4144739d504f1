#pragma once
// Program -> C++ over the headers of device/cpu.

#include "codegen/source_unit.h"
#include "lower/program.h"
#include "util/result.h"

namespace mirage::codegen {

/// Unsupported for a program of another back end.
Result<SourceUnit> emit_cpu(const lower::Program& program);

}  // namespace mirage::codegen
