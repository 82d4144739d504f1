#pragma once
// Program -> a Python module: a Triton kernel for each launch, and functions that run them on
// tensors of PyTorch. docs/triton.md describes what the module has.

#include "codegen/source_unit.h"
#include "lower/program.h"
#include "util/result.h"

namespace mirage::codegen {

/// Unsupported where Triton has no words for a kernel (the message names it), LimitExceeded where a
/// tile is larger than the language allows.
Result<SourceUnit> emit_triton(const lower::Program& program);

}  // namespace mirage::codegen
