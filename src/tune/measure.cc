#include "tune/measure.h"

#include <new>

#include "runtime/contain.h"
#include "runtime/load.h"
#include "tune/gpu_time.h"
#include "tune/gpu_turn.h"

namespace mirage::tune {

struct Measurer {
  /// What a child hands back: plain data in shared memory.
  struct Outcome {
    Timing timing;
    Deviation deviation;
    int cases;
  };

  static Result<Outcome> run(const codegen::SourceUnit& unit, const Suite& suite,
                             const MeasureOptions& options) {
    MIRAGE_TRY(const auto executable, load(unit, options, std::make_shared<runtime::ThreadPool>()));
    Outcome outcome{};
    for (const TestCase& test : suite.cases) {
      MIRAGE_TRY(const Deviation deviation,
                 run_and_compare(*executable, *suite.program, test.inputs, test.reference,
                                 test.family, options.threads));
      if (outcome.cases == 0) outcome.deviation = deviation;
      outcome.deviation.max_of_bound =
          std::max(outcome.deviation.max_of_bound, deviation.max_of_bound);
      ++outcome.cases;
    }
    GpuTimer::Inputs on_gpu;
    MIRAGE_TRY(const Sampler sampler, sampler_for(executable, suite, options, on_gpu));
    MIRAGE_TRY(const std::vector<Timing> timings, take_samples({&sampler, 1}, options.time));
    outcome.timing = timings[0];
    return outcome;
  }

  static Result<std::vector<Timing>> run_again(std::span<const codegen::SourceUnit* const> units,
                                               const Suite& suite, const MeasureOptions& options) {
    const auto pool = std::make_shared<runtime::ThreadPool>();
    std::vector<Sampler> samplers;
    GpuTimer::Inputs on_gpu;
    for (const codegen::SourceUnit* unit : units) {
      MIRAGE_TRY(auto executable, load(*unit, options, pool));
      MIRAGE_TRY(samplers.emplace_back(), sampler_for(executable, suite, options, on_gpu));
    }
    return take_samples(samplers, options.time);
  }

  /// On the first case of the suite: calls on this processor, or a graph on the GPU, whose inputs
  /// are put there for the first of several.
  static Result<Sampler> sampler_for(const std::shared_ptr<const runtime::Executable>& executable,
                                     const Suite& suite, const MeasureOptions& options,
                                     GpuTimer::Inputs& on_gpu) {
    const std::vector<HostTensor>& inputs = suite.cases[0].inputs;
    MIRAGE_TRY(std::vector<HostTensor> made, make_outputs(*suite.program));
    if (const auto* cuda = dynamic_cast<const runtime::cuda::CudaExecutable*>(executable.get())) {
      if (!on_gpu) {
        MIRAGE_TRY(on_gpu, GpuTimer::rotated(inputs));
      }
      MIRAGE_TRY(GpuTimer made_timer, GpuTimer::make(*cuda, on_gpu, made));
      MIRAGE_TRY_VOID(made_timer.warm_up(options.time.warm_up));
      return Sampler([executable, timer = std::make_shared<GpuTimer>(std::move(made_timer))] {
        return timer->sample();
      });
    }
    const auto outputs = std::make_shared<std::vector<HostTensor>>(std::move(made));
    return sampler_of([executable, outputs, in = views_of(inputs), out = views_of(*outputs),
                       threads = options.threads] { return executable->run(in, out, threads); },
                      options.time);
  }

  /// In the child: with threads of its own, those of the parent do not exist here.
  static Result<std::shared_ptr<const runtime::Executable>> load(
      const codegen::SourceUnit& unit, const MeasureOptions& options,
      std::shared_ptr<runtime::ThreadPool> pool) {
    runtime::CompileOptions compile = options.compile;
    compile.pool = std::move(pool);
    return runtime::load(unit, compile);
  }

  static Measured make(Hash128 key, const Outcome& outcome) {
    Measured measured;
    measured.key_ = key;
    measured.timing_ = outcome.timing;
    measured.deviation_ = outcome.deviation;
    measured.cases_ = outcome.cases;
    return measured;
  }
  static void retime(Measured& measured, const Timing& timing) { measured.timing_ = timing; }
};

namespace {

/// Programs of a GPU are measured one at a time on the machine.
Result<GpuTurn> turn_for(const codegen::SourceUnit& unit, const Deadline& deadline) {
  if (unit.language == codegen::Language::Cpp) return GpuTurn();
  return GpuTurn::take(deadline);
}

}  // namespace

Result<Measured> measure(const codegen::SourceUnit& unit, const Suite& suite,
                         const MeasureOptions& options) {
  MIRAGE_TRY(const runtime::SharedMemory memory,
             runtime::SharedMemory::make(sizeof(Measurer::Outcome)));
  MIRAGE_TRY(const GpuTurn turn, turn_for(unit, options.deadline));
  auto* outcome = new (memory.data()) Measurer::Outcome();
  MIRAGE_TRY_VOID(runtime::contain(
      options.time_limit,
      [&]() -> Result<void> {
        MIRAGE_TRY(*outcome, Measurer::run(unit, suite, options));
        return {};
      },
      options.deadline));
  return Measurer::make(unit.key, *outcome);
}

Result<void> measure_again(std::span<const codegen::SourceUnit* const> units,
                           std::span<Measured* const> measured, const Suite& suite,
                           const MeasureOptions& options) {
  MIRAGE_TRY(const runtime::SharedMemory memory,
             runtime::SharedMemory::make(sizeof(Timing) * units.size()));
  MIRAGE_TRY(const GpuTurn turn, turn_for(*units[0], options.deadline));
  auto* timings = new (memory.data()) Timing[units.size()]();
  MIRAGE_TRY_VOID(runtime::contain(
      options.time_limit,
      [&]() -> Result<void> {
        MIRAGE_TRY(const std::vector<Timing> all, Measurer::run_again(units, suite, options));
        std::copy(all.begin(), all.end(), timings);
        return {};
      },
      options.deadline));
  for (size_t i = 0; i < units.size(); ++i) Measurer::retime(*measured[i], timings[i]);
  return {};
}

}  // namespace mirage::tune
