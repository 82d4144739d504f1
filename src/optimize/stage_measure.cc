#include <algorithm>

#include "optimize/stages.h"

namespace mirage::optimize {
namespace {

/// A program that takes longer hangs: candidate 0 in any case, others if they take far longer than
/// it did. So one that hangs does not use up the time of those behind it.
constexpr double kLongest = 30, kLeast = 2, kOfBaseline = 10;
/// Part of the time left in which samples are taken; then the child must be done.
constexpr double kSampleShare = 0.8;

std::chrono::milliseconds limit_of(const Run& run, const Track& track) {
  double seconds = kLongest;
  if (&track != &run.tracks[0])
    seconds = std::min(seconds, kLeast + kOfBaseline * run.baseline_seconds);
  return std::chrono::milliseconds(static_cast<int64_t>(1000 * seconds));
}

/// Checks and times one track; whether there was time for that.
Result<bool> measure_track(Run& run, Track& track, const Deadline& deadline) {
  const double begun = run.elapsed();
  tune::MeasureOptions options = measure_options(run, deadline);
  options.time_limit = limit_of(run, track);
  Result<tune::Measured> measured = tune::measure(track.built->source, *run.suite, options);
  if (!measured && measured.error().code == Code::Timeout && deadline.is_over()) return false;
  if (!measured) return tl::unexpected(std::move(measured.error()));
  const double seconds = run.elapsed() - begun;
  if (&track == &run.tracks[0]) run.baseline_seconds = seconds;
  run.measure_seconds.add(seconds);
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
  options.worker = run.session.gpu_worker();
  options.time_limit = std::chrono::seconds(static_cast<int64_t>(kLongest));
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
