#pragma once
// Holds verdicts on changed programs against float64 at small sizes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>
#include <vector>

#include "interp/interp.h"
#include "property/mutate.h"
#include "verify/replay.h"
#include "verify/shrink.h"
#include "verify/verify.h"
#include "verify/witness.h"

namespace mirage::testing {

struct Tally {
  int separated = 0, accepted = 0;          // float64 or a witness tells them apart; equivalent
  int same = 0, rejected = 0, unknown = 0;  // float64 does not; verdict different, unknown
  int skipped = 0;                          // cannot be evaluated at a small size
  std::vector<std::string> wrong;           // descriptions of what must not be
  std::vector<std::string> undecided;
  double slowest_seconds = 0;  // of CPU time, of a verdict
  std::string slowest;
};

/// Largest difference of outputs relative to their size at the small model, over a few inputs. NaN
/// if it cannot be evaluated.
inline double separation(const ir::Graph& reference, const ir::Graph& candidate) {
  const auto pair = verify::shrink(reference, candidate);
  if (!pair) return NAN;
  double largest = 0;
  for (uint64_t seed = 11; seed < 17; ++seed) {
    const auto inputs =
        verify::witness_inputs(*pair->reference, seed, 0.5 * static_cast<double>(seed - 10));
    const auto a = interp::evaluate(*pair->reference, inputs);
    const auto b = interp::evaluate(*pair->candidate, inputs);
    if (!a || !b) return NAN;
    for (size_t i = 0; i < a->size(); ++i) {
      if ((*a)[i].shape != (*b)[i].shape) return INFINITY;
      double size = 0, difference = 0;
      for (size_t k = 0; k < (*a)[i].data.size(); ++k) {
        const double x = (*a)[i].data[k], y = (*b)[i].data[k];
        if (!std::isfinite(x)) continue;
        if (!std::isfinite(y)) return INFINITY;
        size = std::max(size, std::fabs(x));
        difference = std::max(difference, std::fabs(x - y));
      }
      largest = std::max(largest, difference / std::max(size, 1e-300));
    }
  }
  return largest;
}

/// A verdict of the field has a bound of 2^-50, or says why it has none.
inline bool accounts_for_errors(const verify::Verdict& verdict) {
  if (!verdict.is_equivalent() || verdict.method != verify::Method::Field) return true;
  return verdict.log2_error_bound <= -50 ||
         std::any_of(verdict.notes.begin(), verdict.notes.end(),
                     [](const std::string& note) { return note.rfind("no bound: ", 0) == 0; });
}

inline void judge(const ir::Graph& reference, const Changed& changed,
                  const verify::VerifyOptions& options, Tally& tally) {
  const double error = separation(reference, *changed.graph);
  const std::clock_t start = std::clock();
  const auto verdict = verify::verify(reference, *changed.graph, options);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (seconds > tally.slowest_seconds) {
    tally.slowest_seconds = seconds;
    tally.slowest = changed.what + ": " + (verdict ? to_string(*verdict) : verdict.error().message);
  }
  if (!verdict || std::isnan(error)) {
    ++tally.skipped;
    if (verdict && verdict->is_equivalent())
      tally.wrong.push_back(changed.what + ": equivalent, but cannot be evaluated");
    return;
  }
  const std::string text =
      fmt::format("{}: float64 differs by {:.1e}; {}", changed.what, error, to_string(*verdict));
  if (!accounts_for_errors(*verdict)) tally.wrong.push_back(text + "; no reason for its bound");
  if (error > 1e-9) {
    ++tally.separated;
    if (!verdict->is_equivalent()) return;
    ++tally.accepted;
    tally.wrong.push_back(text);
  } else {
    // Some mutants are the same function at small sizes only; a witness that holds on replay tells.
    if (verdict->answer == verify::Answer::Different &&
        verify::replay(reference, *changed.graph, *verdict)) {
      ++tally.separated;
      return;
    }
    ++tally.same;
    if (verdict->answer == verify::Answer::Different) {
      ++tally.rejected;
      tally.wrong.push_back(text);
    } else if (verdict->answer == verify::Answer::Unknown) {
      ++tally.unknown;
      tally.undecided.push_back(text);
    }
  }
}

}  // namespace mirage::testing
