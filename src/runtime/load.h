#pragma once
// SourceUnit -> Executable, whatever its language.

#include "runtime/cpu/compile.h"

namespace mirage::runtime {

/// Compiles, or takes from the cache, and loads. Unsupported where this machine lacks the compiler
/// or the device.
Result<std::shared_ptr<const Executable>> load(const codegen::SourceUnit& unit,
                                               const CompileOptions& options = {});

/// The same without touching a device: code for one is loaded when it is first run. A process that
/// has not touched it can fork children that do.
Result<std::shared_ptr<const Executable>> load_when_run(const codegen::SourceUnit& unit,
                                                        const CompileOptions& options = {});

/// An executable that is compiled and loaded when it is first run; what load() would say is said
/// there.
std::shared_ptr<const Executable> compile_when_run(const codegen::SourceUnit& unit,
                                                   const CompileOptions& options = {});

}  // namespace mirage::runtime
