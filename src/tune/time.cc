#include "tune/time.h"

#include <algorithm>
#include <cmath>

namespace mirage::tune {
namespace {

using Clock = std::chrono::steady_clock;
using Micros = std::chrono::duration<double, std::micro>;

Result<double> sample(const std::function<Result<void>()>& call, int calls) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) MIRAGE_TRY_VOID(call());
  return Micros(Clock::now() - start).count() / calls;
}

/// Calls for the warm-up time, and how many calls make one sample.
Result<int> warm_up(const std::function<Result<void>()>& call, const TimeOptions& options) {
  const auto end = Clock::now() + options.warm_up;
  double least = 1e30;
  do {
    MIRAGE_TRY(const double us, sample(call, 1));
    least = std::min(least, us);
  } while (Clock::now() < end && !options.deadline.is_over());
  const double wanted = Micros(options.min_sample).count();
  return std::clamp(static_cast<int>(std::ceil(wanted / std::max(least, 0.01))), 1, 1000);
}

}  // namespace

Timing summarize(std::vector<double> samples_us) {
  if (samples_us.empty()) return {};
  std::sort(samples_us.begin(), samples_us.end());
  const auto at = [&](double part) {
    return samples_us[static_cast<size_t>(
        std::lround(part * static_cast<double>(samples_us.size() - 1)))];
  };
  // Ranks between which the median of the distribution lies, by the binomial's normal limit.
  const auto count = static_cast<double>(samples_us.size());
  const auto rank = static_cast<size_t>(std::fmax(0, (count - 1.96 * std::sqrt(count)) / 2));
  return {at(0.5),
          at(0.1),
          at(0.9),
          samples_us[rank],
          samples_us[samples_us.size() - 1 - rank],
          static_cast<int>(samples_us.size())};
}

Result<Sampler> sampler_of(std::function<Result<void>()> call, const TimeOptions& options) {
  MIRAGE_TRY(const int batch, warm_up(call, options));
  return Sampler([call = std::move(call), batch] { return sample(call, batch); });
}

Result<std::vector<Timing>> take_samples(std::span<const Sampler> samplers,
                                         const TimeOptions& options) {
  std::vector<std::vector<double>> samples(samplers.size());
  const auto end = Clock::now() + options.budget;
  for (int round = 0; round < options.max_samples; ++round) {
    if (round >= options.min_samples && Clock::now() >= end) break;
    if (round >= 1 && options.deadline.is_over()) break;
    for (size_t i = 0; i < samplers.size(); ++i) {
      MIRAGE_TRY(const double us, samplers[i]());
      samples[i].push_back(us);
    }
  }
  std::vector<Timing> timings;
  for (auto& of_call : samples) timings.push_back(summarize(std::move(of_call)));
  return timings;
}

}  // namespace mirage::tune
