#pragma once
// What a run of optimize did, as plain values: every stage's count, every loss with its reason.
// Printed by the report layer.

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "search/search.h"
#include "tune/check.h"
#include "tune/time.h"
#include "util/hash.h"
#include "verify/verdict.h"

namespace mirage::optimize {

enum class Stage : uint8_t { Search, Verify, Lower, Emit, Compile, Check, Time };
std::string_view name_of(Stage stage);

/// Losses of one kind: `reason` is a sentence or an enumerator's name without numbers in it.
struct Rejected {
  Stage stage = Stage::Search;
  std::string reason;
  int64_t count = 0;
  std::string example;  // the first one's message
};

/// What was left out for lack of time, or because the run was cancelled.
struct Skipped {
  Stage stage = Stage::Search;
  std::string reason;
};

/// One program that was tried: candidate 0 is the user's own, operator by operator.
struct CandidateReport {
  int number = 0;
  std::string plan;      // in words
  std::string schedule;  // axes with trips
  Hash128 graph;
  verify::Verdict verdict;
  double predicted_us = 0;  // by the cost model; 0 for candidate 0
  bool is_timed = false;    // and so it was checked: nothing is timed before
  int round = 0;            // the last one it was timed in, from 1; `timing` is of that one
  tune::Timing timing;      // of different rounds are not comparable: the machine changes
  double of_fastest = 0;    // time over that of the fastest in the same round
  tune::Deviation deviation;
  int checked_cases = 0;
  std::string lost;  // why it went no further; empty for the winner

  double median_us() const {
    return is_timed ? timing.median_us : std::numeric_limits<double>::quiet_NaN();
  }
};

/// A round of timing. The first one takes everyone, each on its own as it was checked; in the
/// others those that may still win are timed in turns.
struct Round {
  int candidates = 0;
  int samples = 0;  // of each, at least
  double fastest_us = 0;
};

enum class Stop : uint8_t { Complete, TimeLimit, Cancelled };
std::string_view name_of(Stop stop);

struct Report {
  std::string program;
  Hash128 program_hash;
  std::string target;
  std::string machine;
  std::string compiler;
  std::string version;
  int threads = 1;
  uint64_t seed = 0;

  // The funnel.
  int64_t values = 0;      // of the program, after closure
  int64_t structures = 0;  // plans before tile sizes
  int64_t schedules = 0;   // plans with tile sizes that were considered
  int64_t verified = 0;
  int64_t built = 0;
  int64_t checked = 0;
  int64_t timed = 0;
  std::vector<Rejected> rejected;
  std::vector<Skipped> skipped;

  search::SearchStats search;
  std::map<std::string, double> stage_seconds;  // ordered by name
  double total_seconds = 0;
  Stop stop = Stop::Complete;
  bool is_from_store = false;

  std::vector<CandidateReport> candidates;  // [0] is candidate 0
  std::vector<Round> rounds;
  size_t winner = 0;  // index of candidates
  std::vector<std::string> check_families;
  int64_t spot_checks = 0;
  std::vector<std::string> notes;

  const CandidateReport& baseline() const { return candidates[0]; }
  const CandidateReport& best() const { return candidates[winner]; }
  /// Whether the winner agreed with float64. Where there was no time for that, it is candidate 0.
  bool is_checked() const { return best().is_timed; }
  /// Medians; NaN for what was not timed.
  double baseline_us() const { return baseline().median_us(); }
  double best_us() const { return best().median_us(); }
  /// Time of candidate 0 over that of the winner; NaN if there is none.
  double speed_up() const { return baseline_us() / best_us(); }
};

/// Rows that were timed, by their last round and then by time: finalists first.
std::vector<size_t> ranking(const Report& report);

}  // namespace mirage::optimize
