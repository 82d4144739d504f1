#pragma once
// SourceUnit -> machine code by CUDA's run-time compiler, through a cache. The key of
// the cache is text, options, device headers and the compiler's version.

#include <filesystem>
#include <string>

#include "codegen/source_unit.h"
#include "runtime/compile_options.h"
#include "util/result.h"

namespace mirage::runtime {

/// Where cubin_of keeps the machine code of a unit. Unsupported without the compiler.
Result<std::filesystem::path> cubin_file(const codegen::SourceUnit& unit,
                                         const CompileOptions& options = {});

/// Machine code; no GPU is needed. CompileFailed carries the compiler's log in its notes.
Result<std::string> cubin_of(const codegen::SourceUnit& unit, const CompileOptions& options = {});

}  // namespace mirage::runtime
