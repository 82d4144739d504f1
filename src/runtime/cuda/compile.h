#pragma once
// SourceUnit -> Executable by CUDA's run-time compiler, through a cache of machine code. The key of
// the cache is text, options, device headers and the compiler's version.

#include <memory>
#include <string>

#include "codegen/source_unit.h"
#include "runtime/cpu/compile.h"
#include "runtime/executable.h"
#include "util/result.h"

namespace mirage::runtime {

/// Machine code; no GPU is needed. CompileFailed carries the compiler's log in its notes.
Result<std::string> cubin_of(const codegen::SourceUnit& unit, const CompileOptions& options = {});

/// Unsupported where there is no GPU that runs the unit's target.
Result<std::shared_ptr<const Executable>> load_cubin(const std::string& cubin,
                                                     const codegen::SourceUnit& unit);

}  // namespace mirage::runtime
