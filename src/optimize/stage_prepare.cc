#include "device_headers.h"
#include "optimize/stages.h"
#include "runtime/cpu/find_compiler.h"
#include "runtime/cuda/look.h"
#include "runtime/cuda/nvrtc.h"
#include "tune/machine.h"

namespace mirage::optimize {

namespace {

/// What runs the programs and what compiles them, as reports and keys name them.
struct Tools {
  std::string machine, compiler;
};

Result<Tools> cpu_tools(BuildOptions& build) {
  if (!lower::runs_here(build.target))
    return unsupported("target {}: this processor does not have its instructions",
                       build.target.name);
  MIRAGE_TRY(const runtime::Compiler compiler, runtime::find_compiler(build.compile.compiler));
  build.compile.found = compiler;
  return Tools{tune::machine_name(), compiler.name() + " " + compiler.version};
}

Result<Tools> gpu_tools(BuildOptions& build) {
  auto gpu = runtime::cuda::look_at_gpu();
  if (!gpu)
    return tl::unexpected(
        Error{gpu.error().code,
              fmt::format("target {}: {}", build.target.name, gpu.error().message),
              {}});
  if (build.target.name != fmt::format("sm_{}", gpu->architecture))
    return unsupported("target {}: the GPU of this machine, {}, is sm_{}", build.target.name,
                       gpu->name, gpu->architecture);
  build.target.units = gpu->multiprocessors;
  MIRAGE_TRY(const std::string version, runtime::nvrtc_version());
  return Tools{gpu->name, "nvrtc " + version};
}

}  // namespace

Result<void> prepare(Run& run) {
  const OptimizeOptions& options = run.options;
  BuildOptions& build = run.build;
  MIRAGE_TRY(build.target, lower::target_named(options.target));
  if (build.target.backend == lower::Backend::Triton)
    return unsupported(
        "target {}: PyTorch compiles and times it: superoptimize(backend=\"triton\")",
        build.target.name);
  build.compile = run.session.compile_options();
  build.verify.seed = options.seed;
  const bool is_cpu = build.target.backend == lower::Backend::Cpu;
  MIRAGE_TRY(const Tools tools, is_cpu ? cpu_tools(build) : gpu_tools(build));
  run.threads = options.threads > 0 ? options.threads : tune::core_count();

  Report& report = run.report;
  report.program = run.program->name;
  report.program_hash = run.program->hash;
  report.target = build.target.name;
  report.machine = tools.machine;
  report.compiler = tools.compiler;
  report.version = MIRAGE_VERSION;
  report.threads = run.threads;
  report.seed = options.seed;
  if (run.program->outputs_implied)
    report.notes.push_back("no output was marked: the outputs are the values that nobody reads");
  run.key = {run.program->hash,
             std::string(build.target.name),
             fmt::format("time={} states={} top={} threads={} seed={}", options.time_limit_seconds,
                         options.max_states, options.top, run.threads, options.seed),
             tools.compiler,
             hash_bytes(device_headers_hash()),
             MIRAGE_VERSION,
             report.machine};
  return {};
}

}  // namespace mirage::optimize
