#pragma once
// What the stages of one run share: what was asked for, the candidates on their way, the report.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimize/build.h"
#include "optimize/optimize.h"
#include "optimize/proposals.h"
#include "tune/measure.h"
#include "tune/records.h"
#include "tune/suite.h"
#include "util/deadline.h"

namespace mirage::optimize {

struct Average {
  double sum = 0;
  int count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return count > 0 ? sum / count : 0; }
};

/// A candidate on its way.
struct Track {
  Proposal proposal;
  bool wants_blas = false;  // matrix products of the vendor's library, where lowering can use it
  CandidateReport report;
  std::optional<Built> built;  // candidate 0: from the start, but perhaps not compiled
  std::optional<tune::Measured> measured;

  bool is_compiled() const { return built && built->executable; }
  /// What was built, which may have its outputs in another order than what was proposed.
  const ir::GraphPtr& graph() const { return built ? built->verified.graph() : proposal.graph; }
};

// With less time, in seconds, candidate 0 and its check have the machine for themselves.
constexpr double kPlentyOfTime = 15;

// Shares of the time limit. No more of a kind is begun after the first, and what runs at the second
// is given up. Candidate 0 alone has the whole time.
constexpr double kSearchShare = 0.15;
constexpr double kFamiliesShare = 0.7;  // of inputs; the first has until kReferenceEnd
constexpr double kReferenceEnd = 0.9;
constexpr double kBuildShare = 0.55, kBuildEnd = 0.7;
constexpr double kMeasureShare = 0.85, kMeasureEnd = 0.92;

struct Run {
  Run(ir::GraphPtr program, const OptimizeOptions& options, Session& session);

  const ir::GraphPtr program;
  const OptimizeOptions& options;
  Session& session;
  const Deadline::Clock::time_point start = Deadline::Clock::now();
  const Deadline deadline;  // the time limit, and whoever cancels

  // Made by prepare().
  BuildOptions build;
  int threads = 1;
  tune::RecordKey key;

  bool wants_precompiled = false;  // headers: many programs will be compiled

  // What things took in this run, on average: later ones are begun if they fit.
  Average build_seconds, measure_seconds;
  double baseline_seconds = 0;  // that checking and timing candidate 0 took

  std::vector<Track> tracks;            // [0] is candidate 0
  std::optional<Error> baseline_error;  // why candidate 0 could not be compiled
  std::optional<tune::Suite> suite;
  Report report;

  double elapsed() const;
  bool is_cancelled() const { return deadline.is_cancelled(); }
  /// The end of a share of the time limit.
  Deadline end_of(double share) const;
  /// Whether to begin something that takes about so many seconds.
  bool may_begin(double share, double end_share, double seconds) const;
  /// Enters what is left out. The run counts as cut short unless only its checks got fewer.
  void skip(Stage stage, std::string reason, bool is_cut_short = true);

  void tell(std::string_view stage, int64_t done, int64_t total) const;
  void reject(Stage stage, std::string_view reason, const std::string& example, int64_t count = 1);
  /// Counts the time since `begun` for a stage.
  void spend(const char* stage, double begun) { report.stage_seconds[stage] += elapsed() - begun; }

  void add(std::vector<Proposal> proposals);
  /// The program as written, whoever does its products.
  bool is_as_written(const Track& track) const { return track.proposal.graph == program; }
  /// Indices of the tracks that were timed, fastest first.
  std::vector<size_t> by_time() const;
};

}  // namespace mirage::optimize
