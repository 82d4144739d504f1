#pragma once
// Program -> C++ over the headers of device/cpu.

#include "codegen/source_unit.h"
#include "lower/program.h"
#include "util/result.h"

namespace mirage::codegen {

/// What all units of a target have in common: language, options, the headers they include.
SourceUnit unit_for(const lower::Target& target);

/// Unsupported for a program of another back end.
Result<SourceUnit> emit_cpu(const lower::Program& program);

}  // namespace mirage::codegen
