#pragma once
// What is done with a build in the process that may crash: it is compared on every case, then
// timed. measure() and the worker for GPUs hand on what comes of it.

#include <memory>
#include <span>
#include <vector>

#include "runtime/executable.h"
#include "tune/check.h"
#include "tune/suite.h"
#include "tune/time.h"
#include "util/result.h"

namespace mirage::tune {

/// Plain data, so that it can go from process to process.
struct Outcome {
  Timing timing;
  Deviation deviation;
  int cases = 0;
};

using ExecutablePtr = std::shared_ptr<const runtime::Executable>;

/// Compares on every case of the suite, then times on the first. Mismatch, or what running says.
Result<Outcome> try_out(const ExecutablePtr& executable, const Suite& suite, int threads,
                        const TimeOptions& time);

/// Times builds that have been compared, in turns.
Result<std::vector<Timing>> time_in_turns(std::span<const ExecutablePtr> executables,
                                          const Suite& suite, int threads, const TimeOptions& time);

}  // namespace mirage::tune
