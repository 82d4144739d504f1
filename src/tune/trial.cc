#include "tune/trial.h"

#include "tune/gpu_time.h"

namespace mirage::tune {
namespace {

/// On the first case of the suite: calls on this processor, or a graph on the GPU, whose inputs are
/// put there for the first of several.
Result<Sampler> sampler_for(const ExecutablePtr& executable, const Suite& suite, int threads,
                            const TimeOptions& time, GpuTimer::Inputs& on_gpu) {
  const std::vector<HostTensor>& inputs = suite.cases[0].inputs;
  MIRAGE_TRY(std::vector<HostTensor> made, make_outputs(*suite.program));
  if (const auto* cuda = dynamic_cast<const runtime::cuda::CudaExecutable*>(executable.get())) {
    if (!on_gpu) {
      MIRAGE_TRY(on_gpu, GpuTimer::rotated(inputs));
    }
    MIRAGE_TRY(GpuTimer made_timer, GpuTimer::make(*cuda, on_gpu, made));
    MIRAGE_TRY_VOID(made_timer.warm_up(time.warm_up));
    return Sampler([executable, timer = std::make_shared<GpuTimer>(std::move(made_timer))] {
      return timer->sample();
    });
  }
  const auto outputs = std::make_shared<std::vector<HostTensor>>(std::move(made));
  return sampler_of([executable, outputs, in = views_of(inputs), out = views_of(*outputs),
                     threads] { return executable->run(in, out, threads); },
                    time);
}

}  // namespace

Result<Outcome> try_out(const ExecutablePtr& executable, const Suite& suite, int threads,
                        const TimeOptions& time) {
  Outcome outcome{};
  for (const TestCase& test : suite.cases) {
    MIRAGE_TRY(const Deviation deviation, run_and_compare(*executable, *suite.program, test.inputs,
                                                          test.reference, test.family, threads));
    if (outcome.cases == 0) outcome.deviation = deviation;
    outcome.deviation.max_of_bound =
        std::max(outcome.deviation.max_of_bound, deviation.max_of_bound);
    ++outcome.cases;
  }
  MIRAGE_TRY(const std::vector<Timing> timings,
             time_in_turns({&executable, 1}, suite, threads, time));
  outcome.timing = timings[0];
  return outcome;
}

Result<std::vector<Timing>> time_in_turns(std::span<const ExecutablePtr> executables,
                                          const Suite& suite, int threads,
                                          const TimeOptions& time) {
  std::vector<Sampler> samplers;
  GpuTimer::Inputs on_gpu;
  for (const ExecutablePtr& executable : executables) {
    MIRAGE_TRY(samplers.emplace_back(), sampler_for(executable, suite, threads, time, on_gpu));
  }
  return take_samples(samplers, time);
}

}  // namespace mirage::tune
