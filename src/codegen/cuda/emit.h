#pragma once
// Program -> CUDA C++ over the headers of device/cuda, for the run-time compiler: no header of the
// system is included.

#include "codegen/source_unit.h"
#include "lower/program.h"
#include "util/result.h"

namespace mirage::codegen {

/// Unsupported for a program of another back end; LimitExceeded if a block needs more shared memory
/// than the target has.
Result<SourceUnit> emit_cuda(const lower::Program& program);

}  // namespace mirage::codegen
