#include <algorithm>

#include "optimize/rounds.h"
#include "optimize/stages.h"

namespace mirage::optimize {
namespace {

// A round with no more than this is the final; halving stops there.
constexpr size_t kFinalists = 4;
// By how much medians of one round may differ although the programs are equally fast: in the first
// round, where each ran at its own time, the machine may have changed.
constexpr double kDrift = 0.1;
constexpr double kNoise = 0.02;
// Another program must be faster by more than noise to replace what the user wrote.
constexpr double kWorthIt = 0.01;

const tune::Timing& timing(const Run& run, size_t index) {
  return run.tracks[index].measured->timing();
}

/// Enters what those in this round were timed with.
void enter(Run& run, const std::vector<size_t>& field) {
  Round round{static_cast<int>(field.size()), timing(run, field[0]).samples,
              timing(run, field[0]).median_us};
  for (size_t index : field) {
    round.samples = std::min(round.samples, timing(run, index).samples);
    round.fastest_us = std::min(round.fastest_us, timing(run, index).median_us);
  }
  run.report.rounds.push_back(round);
  for (size_t index : field) {
    CandidateReport& row = run.tracks[index].report;
    row.round = static_cast<int>(run.report.rounds.size());
    row.of_fastest = timing(run, index).median_us / round.fastest_us;
  }
}

/// Those of a round that may still win, and candidate 0.
std::vector<size_t> next_field(const Run& run, const std::vector<size_t>& field) {
  std::vector<tune::Timing> timings;
  for (size_t index : field) timings.push_back(timing(run, index));
  const double margin = run.report.rounds.size() == 1 ? kDrift : kNoise;
  std::vector<size_t> next;
  for (size_t i : contenders(timings, std::max(kFinalists, (field.size() + 1) / 2), margin))
    next.push_back(field[i]);
  if (std::find(next.begin(), next.end(), size_t{0}) == next.end()) next.push_back(0);
  return next;
}

/// Seconds that a round takes at least: everyone is loaded, warmed up and sampled.
double least_seconds_of(const Run& run, const std::vector<size_t>& field) {
  constexpr double kStart = 0.1;
  constexpr int kCalls = 3;  // to warm up twice, and a sample
  double seconds = kStart;
  for (size_t index : field) seconds += kStart / 2 + kCalls * timing(run, index).median_us * 1e-6;
  return seconds;
}

bool time_in_turns(Run& run, const std::vector<size_t>& field, bool is_final) {
  const int samples = is_final ? 9 : 5;
  if (least_seconds_of(run, field) > run.deadline.seconds_left()) {
    run.skip(Stage::Time, fmt::format("round {} of {} programs was not timed",
                                      run.report.rounds.size() + 1, field.size()));
    return false;
  }
  std::vector<const codegen::SourceUnit*> units;
  std::vector<tune::Measured*> measured;
  for (size_t index : field) {
    units.push_back(&run.tracks[index].built->source);
    measured.push_back(&*run.tracks[index].measured);
  }
  tune::MeasureOptions options = measure_options(run, run.deadline);
  options.time.budget = std::chrono::milliseconds(is_final ? 1000 : 300);
  options.time.min_samples = samples;
  const Result<void> timed = tune::measure_again(units, measured, *run.suite, options);
  const std::string what = fmt::format("round {} was not timed", run.report.rounds.size() + 1);
  if (!timed && run.deadline.is_over())
    run.skip(Stage::Time, what);
  else if (!timed)
    run.report.notes.push_back(fmt::format("{}: {}", what, timed.error().message));
  return timed.has_value();
}

/// The fastest of the last round, if it is faster than candidate 0 by enough.
size_t winner_of(const Run& run, const std::vector<size_t>& field) {
  const size_t fastest = *std::min_element(field.begin(), field.end(), [&](size_t a, size_t b) {
    return timing(run, a).median_us < timing(run, b).median_us;
  });
  const double enough = (1 - kWorthIt) * timing(run, 0).median_us;
  return timing(run, fastest).median_us < enough ? fastest : 0;
}

void say_why_others_lost(Run& run) {
  const double winner_us = timing(run, run.report.winner).median_us;
  const auto last = static_cast<int>(run.report.rounds.size());
  for (size_t i = 0; i < run.tracks.size(); ++i) {
    Track& track = run.tracks[i];
    if (!track.measured || i == run.report.winner) continue;
    const double of_winner = timing(run, i).median_us / winner_us;
    if (track.report.round < last)
      track.report.lost = fmt::format("{:.2f} times the fastest of round {}, beyond noise",
                                      track.report.of_fastest, track.report.round);
    else if (of_winner < 1)
      track.report.lost =
          fmt::format("only {:.1f} % faster than the program as written", 100 * (1 - of_winner));
    else
      track.report.lost = fmt::format("{:.2f} times the winner in the last round", of_winner);
  }
}

}  // namespace

void decide(Run& run) {
  const double begun = run.elapsed();
  std::vector<size_t> field = run.by_time();
  if (field.empty()) return;  // nothing could be checked: candidate 0 it is
  enter(run, field);
  for (bool is_final = field.size() == 1; !is_final;) {
    const std::vector<size_t> next = next_field(run, field);
    is_final = next.size() <= kFinalists + 1 || next.size() == field.size();
    const auto rounds = static_cast<int64_t>(run.report.rounds.size());
    run.tell("final", rounds, rounds + 1);
    if (!time_in_turns(run, next, is_final)) break;
    field = next;
    enter(run, field);
  }
  run.report.winner = winner_of(run, field);
  say_why_others_lost(run);
  run.spend("final", begun);
}

}  // namespace mirage::optimize
