#pragma once
// Wall-clock times of a program on this machine.

#include <chrono>
#include <functional>
#include <vector>

#include "util/deadline.h"
#include "util/result.h"

namespace mirage::tune {

struct TimeOptions {
  std::chrono::milliseconds warm_up{20};
  std::chrono::milliseconds budget{150};  // all samples together
  int min_samples = 5;
  int max_samples = 200;
  Deadline deadline{};  // no more samples then, but one
  /// Calls shorter than this are timed in batches, so that the clock's steps do not matter.
  std::chrono::microseconds min_sample{50};
};

/// Times of one call in microseconds.
struct Timing {
  double median_us = 0;
  double low_us = 0;   // 10th percentile
  double high_us = 0;  // 90th percentile
  /// The true median lies between these in 19 of 20 cases, if samples are independent.
  double median_low_us = 0, median_high_us = 0;
  int samples = 0;
};

/// Summary of samples; all zero for none.
Timing summarize(std::vector<double> samples_us);

/// Calls until warm, then takes samples. Stops at the first error of a call.
Result<Timing> time_calls(const std::function<Result<void>()>& call, const TimeOptions& options);

/// Times several calls in turns, a sample of each per round, so that a slow phase of the machine
/// meets all of them.
Result<std::vector<Timing>> time_in_turns(const std::vector<std::function<Result<void>()>>& calls,
                                          const TimeOptions& options);

}  // namespace mirage::tune
