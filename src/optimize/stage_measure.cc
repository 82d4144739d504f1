#include <algorithm>

#include "optimize/stages.h"

namespace mirage::optimize {

tune::MeasureOptions measure_options(const Run& run) {
  tune::MeasureOptions options;
  options.compile = run.build.compile;
  options.threads = run.threads;
  const double left = run.options.time_limit_seconds - run.elapsed();
  options.time_limit =
      std::chrono::milliseconds(static_cast<int64_t>(1000 * std::clamp(left, 5.0, 30.0)));
  return options;
}

Result<void> measure_tracks(Run& run, size_t first) {
  const double begun = run.elapsed();
  for (size_t i = first; i < run.tracks.size(); ++i) {
    Track& track = run.tracks[i];
    run.tell("measure", static_cast<int64_t>(i - first),
             static_cast<int64_t>(run.tracks.size() - first));
    if (!track.built) continue;
    if (i > 0 && !run.may_begin(kMeasureShare)) {
      track.report.lost = "no time to measure it";
      continue;
    }
    Result<tune::Measured> measured =
        tune::measure(track.built->source, *run.suite, measure_options(run));
    if (measured) {
      ++run.report.checked;
      ++run.report.timed;
      track.measured = *measured;
      continue;
    }
    const Error& error = measured.error();
    if (run.is_cancelled()) run.report.stop = Stop::Cancelled;
    if (i == 0) return tl::unexpected(error);
    track.report.lost = fmt::format("check: {}", error.message);
    run.reject(Stage::Check, name_of(error.code), error.message);
  }
  run.spend("measure", begun);
  return {};
}

}  // namespace mirage::optimize
