#pragma once
// Wall-clock times of a program on this machine.

#include <chrono>
#include <functional>
#include <span>
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

/// Takes one sample: microseconds a call.
using Sampler = std::function<Result<double>()>;

/// A sampler of calls on this machine's clock. Calls until warm first; stops at the first error.
Result<Sampler> sampler_of(std::function<Result<void>()> call, const TimeOptions& options);

/// Samples in turns, one of each a round, so that a slow phase of the machine meets all of them.
Result<std::vector<Timing>> take_samples(std::span<const Sampler> samplers,
                                         const TimeOptions& options);

}  // namespace mirage::tune
