#include <algorithm>

#include "optimize/stages.h"

namespace mirage::optimize {

// The final between the three fastest and candidate 0, in turns in one process.
void decide(Run& run) {
  constexpr size_t kFinalists = 3;
  // A fused program must be faster by more than noise to replace what the user wrote.
  constexpr double kWorthIt = 0.99;
  const double begun = run.elapsed();
  std::vector<size_t> finalists = run.by_time();
  if (finalists.size() > kFinalists) finalists.resize(kFinalists);
  if (std::find(finalists.begin(), finalists.end(), size_t{0}) == finalists.end())
    finalists.push_back(0);
  run.tell("final", 0, 1);
  if (finalists.size() > 1 && !run.is_cancelled()) {
    std::vector<const codegen::SourceUnit*> units;
    std::vector<tune::Measured*> measured;
    for (size_t index : finalists) {
      units.push_back(&run.tracks[index].built->source);
      measured.push_back(&*run.tracks[index].measured);
    }
    tune::MeasureOptions options = measure_options(run);
    options.time.budget = std::chrono::milliseconds(1000);
    options.time.min_samples = 7;
    const Result<void> again = tune::measure_again(units, measured, *run.suite, options);
    if (!again) run.report.notes.push_back("the final was not timed: " + again.error().message);
  }
  run.report.winner = 0;
  double best = run.tracks[0].measured->timing().median_us * kWorthIt;
  for (size_t index : finalists)
    if (run.tracks[index].measured->timing().median_us < best) {
      best = run.tracks[index].measured->timing().median_us;
      run.report.winner = index;
    }
  run.spend("final", begun);
}

}  // namespace mirage::optimize
