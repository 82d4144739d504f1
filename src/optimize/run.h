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

namespace mirage::optimize {

/// A candidate on its way.
struct Track {
  Proposal proposal;
  bool wants_library = false;  // matrix products of the vendor's library, where lowering can use it
  CandidateReport report;
  std::optional<Built> built;
  std::optional<tune::Measured> measured;

  /// What was built, which may have its outputs in another order than what was proposed.
  const ir::GraphPtr& graph() const { return built ? built->verified.graph() : proposal.graph; }
};

// Shares of the time limit after which no more of a kind is begun.
constexpr double kSearchShare = 0.15;
constexpr double kReferenceShare = 0.15;
constexpr double kBuildShare = 0.55;
constexpr double kMeasureShare = 0.85;

struct Run {
  Run(ir::GraphPtr program, const OptimizeOptions& options, Session& session);

  const ir::GraphPtr program;
  const OptimizeOptions& options;
  Session& session;
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  // Made by prepare().
  BuildOptions build;
  int threads = 1;
  tune::RecordKey key;

  bool wants_precompiled = false;  // headers: many programs will be compiled

  std::vector<Track> tracks;  // [0] is candidate 0
  Error baseline_error;       // why candidate 0 could not be built
  std::optional<tune::Suite> suite;
  Report report;

  double elapsed() const;
  bool is_cancelled() const { return options.cancel != nullptr && options.cancel->load(); }
  /// Whether to begin something that may run until this share of the time is over; the report says
  /// why not.
  bool may_begin(double share);

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
