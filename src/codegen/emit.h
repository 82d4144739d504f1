#pragma once
// Program -> text in the language of its target.

#include "codegen/source_unit.h"
#include "lower/program.h"
#include "util/result.h"

namespace mirage::codegen {

/// Unsupported where no back end writes for the target.
Result<SourceUnit> emit(const lower::Program& program);

}  // namespace mirage::codegen
