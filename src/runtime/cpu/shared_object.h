#pragma once
// An Executable that is a loaded shared object with the entry point mirage_run.

#include <memory>
#include <string>

#include "codegen/source_unit.h"
#include "runtime/executable.h"
#include "runtime/thread_pool.h"
#include "util/result.h"

namespace mirage::runtime {

Result<std::shared_ptr<const Executable>> load_shared_object(const std::string& path,
                                                             const codegen::SourceUnit& unit,
                                                             std::shared_ptr<ThreadPool> pool);

}  // namespace mirage::runtime
