#pragma once
// The stages of a run in their order, a file each (stage_NAME.cc). They hand on what they made in
// the Run; an error ends it.

#include <atomic>
#include <future>
#include <optional>

#include "optimize/proposals.h"
#include "optimize/run.h"
#include "util/result.h"

namespace mirage::optimize {

/// Target, compiler, threads, the key of the record store, the head of the report.
Result<void> prepare(Run& run);

/// The winner of an earlier run under the same key, if there is one. It is verified and checked
/// like any other.
std::optional<Proposal> recall(Run& run);
/// Keeps the winner of a run that was completed.
void remember(Run& run, const Track& winner);

/// Candidate 0 as source, which takes no time: an error here is one of the program.
Result<void> begin_baseline(Run& run);

/// Graphs worth building.
Result<Proposals> propose(Run& run);

/// Verifies, lowers and compiles the tracks from `first` on, in parallel, as many as there is time
/// for.
void build_tracks(Run& run, size_t first);

/// Makes inputs and their float64 outputs, on a thread of its own while programs are compiled.
class TestMaker {
 public:
  explicit TestMaker(Run& run);
  /// Gives up what is not finished.
  ~TestMaker();
  TestMaker(const TestMaker&) = delete;
  TestMaker& operator=(const TestMaker&) = delete;

  /// Hands them to the run, which has none if there was no time.
  Result<void> wait();

 private:
  Result<tune::Suite> make(const tune::SuiteOptions& options);

  Run& run_;
  std::atomic<bool> is_given_up_ = false;
  double seconds_ = 0;  // that the thread took
  std::future<Result<tune::Suite>> suite_;
};

/// Checks and times what was built, from `first` on. Only candidate 0's failure is an error.
Result<void> measure_tracks(Run& run, size_t first);
tune::MeasureOptions measure_options(const Run& run, const Deadline& deadline);

/// The last rounds and the winner.
void decide(Run& run);

}  // namespace mirage::optimize
