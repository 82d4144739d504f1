#include "device_headers.h"
#include "optimize/stages.h"
#include "tune/machine.h"

namespace mirage::optimize {

Result<void> prepare(Run& run) {
  const OptimizeOptions& options = run.options;
  BuildOptions& build = run.build;
  MIRAGE_TRY(build.target, lower::target_named(options.target));
  if (build.target.backend == lower::Backend::Cpu && !lower::runs_here(build.target))
    return unsupported("target {}: this processor does not have its instructions",
                       build.target.name);
  build.compile = run.session.compile_options();
  build.verify.seed = options.seed;
  MIRAGE_TRY(const runtime::Compiler compiler, runtime::find_compiler(build.compile.compiler));
  build.compile.found = compiler;
  run.threads = options.threads > 0 ? options.threads : tune::core_count();

  Report& report = run.report;
  report.program = run.program->name;
  report.program_hash = run.program->hash;
  report.target = build.target.name;
  report.machine = tune::machine_name();
  report.compiler = compiler.version;
  report.version = MIRAGE_VERSION;
  report.threads = run.threads;
  report.seed = options.seed;
  if (run.program->outputs_implied)
    report.notes.push_back("no output was marked: the outputs are the values that nobody reads");
  run.key = {run.program->hash,
             std::string(build.target.name),
             fmt::format("time={} states={} top={} threads={} seed={}", options.time_limit_seconds,
                         options.max_states, options.top, run.threads, options.seed),
             compiler.path + " " + compiler.version,
             hash_bytes(device_headers_hash()),
             MIRAGE_VERSION,
             report.machine};
  return {};
}

}  // namespace mirage::optimize
