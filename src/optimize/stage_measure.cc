#include <algorithm>

#include "optimize/stages.h"

namespace mirage::optimize {
namespace {

/// A program that takes longer hangs.
constexpr std::chrono::seconds kLongest{30};
/// Part of the time left in which samples are taken; then the child must be done.
constexpr double kSampleShare = 0.8;

/// Checks and times one track; whether there was time for that.
Result<bool> measure_track(Run& run, Track& track, const Deadline& deadline) {
  const double begun = run.elapsed();
  Result<tune::Measured> measured =
      tune::measure(track.built->source, *run.suite, measure_options(run, deadline));
  if (!measured && measured.error().code == Code::Timeout && deadline.is_over()) return false;
  if (!measured) return tl::unexpected(std::move(measured.error()));
  run.measure_seconds.add(run.elapsed() - begun);
  ++run.report.checked;
  ++run.report.timed;
  track.measured = *measured;
  return true;
}

}  // namespace

tune::MeasureOptions measure_options(const Run& run, const Deadline& deadline) {
  tune::MeasureOptions options;
  options.compile = run.build.compile;
  options.threads = run.threads;
  options.time_limit = kLongest;
  options.deadline = deadline;
  options.time.deadline = deadline.no_later_than(
      Deadline::after(Deadline::Clock::now(), kSampleShare * deadline.seconds_left()));
  return options;
}

Result<void> measure_tracks(Run& run, size_t first) {
  const double begun = run.elapsed();
  int left_out = 0;
  const bool can_check = run.suite && run.tracks[0].is_compiled();
  for (size_t i = first; i < run.tracks.size(); ++i) {
    Track& track = run.tracks[i];
    run.tell("measure", static_cast<int64_t>(i - first),
             static_cast<int64_t>(run.tracks.size() - first));
    if (!track.is_compiled()) continue;
    // Without a time of candidate 0 no other is of use.
    bool has_time =
        can_check && (i == 0 || run.tracks[0].measured) &&
        (i == 0 || run.may_begin(kMeasureShare, kMeasureEnd, run.measure_seconds.value()));
    if (has_time) {
      const Result<bool> measured =
          measure_track(run, track, i == 0 ? run.deadline : run.end_of(kMeasureEnd));
      if (!measured && i == 0) return tl::unexpected(measured.error());
      if (!measured) {
        track.report.lost = fmt::format("check: {}", measured.error().message);
        run.reject(Stage::Check, name_of(measured.error().code), measured.error().message);
        continue;
      }
      has_time = *measured;
    }
    if (has_time) continue;
    track.report.lost = "no time to check it";
    ++left_out;
  }
  if (left_out > 0)
    run.skip(Stage::Check, fmt::format("{} of {} programs were not checked", left_out,
                                       run.tracks.size() - first));
  run.spend("measure", begun);
  return {};
}

}  // namespace mirage::optimize
