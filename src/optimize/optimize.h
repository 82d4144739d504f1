#pragma once
// The pipeline: from a program to the fastest proven program that this machine runs, with a report
// of everything on the way. The one place that knows all stages.

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "ir/graph.h"
#include "lower/program.h"
#include "optimize/report.h"
#include "optimize/session.h"
#include "runtime/executable.h"
#include "util/result.h"

namespace mirage::optimize {

/// Where a run is, for a person who waits.
struct Progress {
  std::string_view stage;
  int64_t done = 0;
  int64_t total = 0;
  double best_us = 0;       // 0: nothing timed yet
  double baseline_us = 0;   // of candidate 0
  double seconds_left = 0;  // of the time limit
};

struct OptimizeOptions {
  std::string target = "cpu";
  double time_limit_seconds = 60;
  int64_t max_states = 0;  // of the structure search; 0: its default
  int top = 12;            // programs built beside candidate 0
  int threads = 0;         // of the program and of the pipeline; 0: all cores
  uint64_t seed = 1;
  bool use_records = true;
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const Progress&)> progress;  // called from the calling thread
};

struct Optimized {
  Report report;
  ir::GraphPtr program;
  ir::GraphPtr winner;     // equivalent to the program
  lower::Program lowered;  // of the winner
  std::shared_ptr<const runtime::Executable> executable;
};

/// Returns within the time limit, or soon after it is cancelled, with what there is by then. There
/// is always a result when candidate 0 can be built: BadInput for what no back end can ever run,
/// Unsupported for targets that are not here, CompileFailed when not even candidate 0 compiles,
/// Mismatch when it disagrees with float64. Where there was no time to check anything the result is
/// candidate 0, and where there was none to compile it, it is compiled when it is first run; the
/// report says so.
Result<Optimized> optimize(const ir::GraphPtr& program, const OptimizeOptions& options,
                           Session& session);
/// The same in a session of its own.
Result<Optimized> optimize(const ir::GraphPtr& program, const OptimizeOptions& options = {});

}  // namespace mirage::optimize
