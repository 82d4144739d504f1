#include "tune/measure.h"

#include <new>

#include "runtime/contain.h"
#include "runtime/load.h"
#include "tune/gpu_turn.h"
#include "tune/gpu_worker.h"
#include "tune/trial.h"

namespace mirage::tune {

struct Measurer {
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

/// In a child: with threads of its own, those of its parent do not exist there.
Result<std::vector<ExecutablePtr>> load(std::span<const codegen::SourceUnit* const> units,
                                        const MeasureOptions& options) {
  runtime::CompileOptions compile = options.compile;
  compile.pool = std::make_shared<runtime::ThreadPool>();
  std::vector<ExecutablePtr> executables;
  for (const codegen::SourceUnit* unit : units) {
    MIRAGE_TRY(executables.emplace_back(), runtime::load(*unit, compile));
  }
  return executables;
}

/// In a forked child.
Result<Outcome> try_out_contained(const codegen::SourceUnit& unit, const Suite& suite,
                                  const MeasureOptions& options) {
  MIRAGE_TRY(const runtime::SharedMemory memory, runtime::SharedMemory::make(sizeof(Outcome)));
  auto* outcome = new (memory.data()) Outcome();
  const codegen::SourceUnit* const only = &unit;
  MIRAGE_TRY_VOID(runtime::contain(
      options.time_limit,
      [&]() -> Result<void> {
        MIRAGE_TRY(const auto executables, load({&only, 1}, options));
        MIRAGE_TRY(*outcome, try_out(executables[0], suite, options.threads, options.time));
        return {};
      },
      options.deadline));
  return *outcome;
}

Result<std::vector<Timing>> time_contained(std::span<const codegen::SourceUnit* const> units,
                                           const Suite& suite, const MeasureOptions& options) {
  MIRAGE_TRY(const runtime::SharedMemory memory,
             runtime::SharedMemory::make(sizeof(Timing) * units.size()));
  auto* timings = new (memory.data()) Timing[units.size()]();
  MIRAGE_TRY_VOID(runtime::contain(
      options.time_limit,
      [&]() -> Result<void> {
        MIRAGE_TRY(const auto executables, load(units, options));
        MIRAGE_TRY(const std::vector<Timing> all,
                   time_in_turns(executables, suite, options.threads, options.time));
        std::copy(all.begin(), all.end(), timings);
        return {};
      },
      options.deadline));
  return std::vector<Timing>(timings, timings + units.size());
}

/// Whether a worker does it.
bool is_for_worker(const codegen::SourceUnit& unit, const MeasureOptions& options) {
  return options.worker != nullptr && unit.language == codegen::Language::Cuda;
}

}  // namespace

Result<Measured> measure(const codegen::SourceUnit& unit, const Suite& suite,
                         const MeasureOptions& options) {
  MIRAGE_TRY(const GpuTurn turn, turn_for(unit, options.deadline));
  MIRAGE_TRY(const Outcome outcome, is_for_worker(unit, options)
                                        ? options.worker->try_out(unit, suite, options)
                                        : try_out_contained(unit, suite, options));
  return Measurer::make(unit.key, outcome);
}

Result<void> measure_again(std::span<const codegen::SourceUnit* const> units,
                           std::span<Measured* const> measured, const Suite& suite,
                           const MeasureOptions& options) {
  MIRAGE_TRY(const GpuTurn turn, turn_for(*units[0], options.deadline));
  MIRAGE_TRY(const std::vector<Timing> timings,
             is_for_worker(*units[0], options)
                 ? options.worker->time_in_turns(units, suite, options)
                 : time_contained(units, suite, options));
  for (size_t i = 0; i < units.size(); ++i) Measurer::retime(*measured[i], timings[i]);
  return {};
}

}  // namespace mirage::tune
