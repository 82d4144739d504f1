#pragma once
// CUDA text that runs on the CPU: compiled by the system's C++ compiler over device/host, run by a
// Machine that checks every access. For small shapes.

#include <memory>

#include "codegen/source_unit.h"
#include "runtime/compile_options.h"
#include "runtime/executable.h"
#include "util/result.h"

namespace mirage::runtime {

struct EmulateOptions {
  uint64_t seed = 1;  // of the order of threads and copies
};

/// CompileFailed carries the compiler's output in its notes. The executable's run() gives RunFailed
/// for the first fault of a kernel, with the lines of text of an access in its notes; one run at a
/// time in a process.
Result<std::shared_ptr<const Executable>> load_emulated(const codegen::SourceUnit& unit,
                                                        const CompileOptions& options = {},
                                                        const EmulateOptions& emulation = {});

}  // namespace mirage::runtime
