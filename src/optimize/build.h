#pragma once
// One graph through verify, lower, emit and compile. Only a Verified is ever lowered.

#include <memory>

#include "codegen/source_unit.h"
#include "ir/graph.h"
#include "lower/lower.h"
#include "optimize/report.h"
#include "runtime/compile_options.h"
#include "util/result.h"
#include "verify/verify.h"

namespace mirage::optimize {

struct Built {
  verify::Verified verified;
  lower::Program program;
  codegen::SourceUnit source;
  std::shared_ptr<const runtime::Executable> executable;  // null until it is compiled
};

struct BuildOptions {
  lower::Target target;
  lower::LowerOptions lower;
  verify::VerifyOptions verify;
  runtime::CompileOptions compile;
};

/// All but the compilation.
Result<Built> build_source(const ir::GraphPtr& program, const ir::GraphPtr& candidate,
                           const BuildOptions& options, Stage& stage);

/// `stage` is the one that was reached: on an error, the one that failed. The graph that was built
/// has the program's outputs in the program's order, also where the candidate has them in another.
Result<Built> build(const ir::GraphPtr& program, const ir::GraphPtr& candidate,
                    const BuildOptions& options, Stage& stage);

}  // namespace mirage::optimize
