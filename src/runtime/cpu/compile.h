#pragma once
// SourceUnit -> Executable by the system's C++ compiler, through a cache of shared objects.
//
// The key of the cache is text, options, device headers, compiler (path and version) and
// instruction set.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "codegen/source_unit.h"
#include "runtime/cache_folder.h"
#include "runtime/executable.h"
#include "runtime/thread_pool.h"
#include "util/deadline.h"
#include "util/result.h"

namespace mirage::runtime {

struct Compiler {
  std::string path;
  std::string version;  // first line of --version
};
struct CompileOptions {
  std::string compiler{};  // empty: $CXX, else the first of clang++, c++, g++ that is there
  std::optional<Compiler> found{};  // what find_compiler said, to ask once instead of every time
  std::string
      cache_dir{};  // empty: $MIRAGE_CACHE_DIR, else $XDG_CACHE_HOME/mirage, ~/.cache/mirage
  bool use_cache = true;
  std::chrono::milliseconds time_limit{120000};
  Deadline deadline{};                 // the compiler is stopped then: Timeout
  std::shared_ptr<ThreadPool> pool{};  // shared by all executables of a session; null: a new one
};

/// CompileFailed carries the compiler's output in its notes; Unsupported if there is no compiler or
/// the processor lacks the instruction set.
Result<std::shared_ptr<const Executable>> compile(const codegen::SourceUnit& unit,
                                                  const CompileOptions& options = {});

/// The compiler that compile() would use.
Result<Compiler> find_compiler(const std::string& wanted = {});

/// What was found before, else find_compiler.
Result<Compiler> compiler_of(const CompileOptions& options);

/// Makes the precompiled header of the units with this one's prelude, options and target, unless it
/// is there: compile() takes half the time where it finds one.
Result<void> precompile(const codegen::SourceUnit& unit, const CompileOptions& options = {});

}  // namespace mirage::runtime
