#pragma once
// The stages of a run in their order, a file each (stage_NAME.cc). They hand on what they made in
// the Run; an error ends it.

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

/// Graphs worth building.
Result<Proposals> propose(Run& run);

/// Verifies, lowers and compiles the tracks from `first` on, in parallel.
void build_tracks(Run& run, size_t first);

/// Inputs and their float64 outputs.
Result<void> make_tests(Run& run);

/// Checks and times what was built, from `first` on. Only candidate 0's failure is an error.
Result<void> measure_tracks(Run& run, size_t first);
tune::MeasureOptions measure_options(const Run& run);

/// The last rounds and the winner.
void decide(Run& run);

}  // namespace mirage::optimize
