#pragma once
// The process that checks and times programs on a GPU (runtime/worker.h). It keeps its place on the
// GPU and the suite from one program to the next, and is started anew after one that faulted or
// hung. Whoever asks never touches the GPU, or may have done so in any way.

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "codegen/source_unit.h"
#include "runtime/worker.h"
#include "tune/suite.h"
#include "tune/trial.h"
#include "util/result.h"

namespace mirage::tune {

struct MeasureOptions;

class GpuWorker {
 public:
  /// A program that calls serve_gpu_worker().
  explicit GpuWorker(std::vector<std::string> command) : worker_(std::move(command)) {}

  /// The suites of later calls are no longer the one of earlier calls.
  void forget_suite() { has_suite_ = 0; }

  /// What tune/trial.h does, there. Errors as measure() has them.
  Result<Outcome> try_out(const codegen::SourceUnit& unit, const Suite& suite,
                          const MeasureOptions& options);
  Result<std::vector<Timing>> time_in_turns(std::span<const codegen::SourceUnit* const> units,
                                            const Suite& suite, const MeasureOptions& options);

 private:
  Result<std::string> call(std::span<const codegen::SourceUnit* const> units, bool is_first,
                           const Suite& suite, const MeasureOptions& options);
  /// Starts a process that has none, and tells it the suite. Neither counts for a program's time.
  Result<void> prepare(const Suite& suite, const MeasureOptions& options);

  std::mutex mutex_;
  runtime::Worker worker_;
  int has_suite_ = 0;  // the process that does
};

/// The worker's side: until its parent has no more use for it. The exit status.
int serve_gpu_worker();

}  // namespace mirage::tune
