#pragma once
// SourceUnit -> Executable by the system's C++ compiler, through a cache of shared objects.
//
// The key of the cache is text, options, device headers, compiler (path and version) and
// instruction set.

#include <memory>

#include "codegen/source_unit.h"
#include "runtime/compile_options.h"
#include "runtime/executable.h"
#include "util/result.h"

namespace mirage::runtime {

/// CompileFailed carries the compiler's output in its notes; Unsupported if there is no compiler,
/// it does not work, or the processor lacks the instruction set.
Result<std::shared_ptr<const Executable>> compile(const codegen::SourceUnit& unit,
                                                  const CompileOptions& options = {});

/// The file of the unit's shared object: built, or kept from before.
Result<std::string> shared_object_of(const codegen::SourceUnit& unit,
                                     const CompileOptions& options = {});

/// Makes the precompiled header of the units with this one's prelude, options and target, unless it
/// is there: compile() takes half the time where it finds one.
Result<void> precompile(const codegen::SourceUnit& unit, const CompileOptions& options = {});

}  // namespace mirage::runtime
