#pragma once
// Is this candidate the same function as this program? Structural identity; random evaluation over
// finite fields at small sizes, with a witness over the reals where the two differ; a normal-form
// proof where the field leaves something open; and a check at the real size. docs/verify.md says
// what each answer means.

#include "ir/graph.h"
#include "util/result.h"
#include "verify/verdict.h"

namespace mirage::verify {

constexpr uint64_t kSearchWork = 300'000;      // one of many candidates
constexpr uint64_t kThoroughWork = 4'000'000;  // one that somebody asked about

struct VerifyOptions {
  uint64_t seed = 1;
  double log2_target = -50;  // trials repeat until the bound is at most this
  int max_trials = 8;
  bool use_proof = true;  // try normal forms
  /// Operations on elements that the check at the real size may spend in each graph; 0 leaves it
  /// out.
  uint64_t real_size_work = kSearchWork;
};

/// BadInput if the two are not kernel graphs with inputs of the same shapes (element types do not
/// matter) and as many outputs. Everything else is a verdict.
Result<Verdict> verify(const ir::Graph& reference, const ir::Graph& candidate,
                       const VerifyOptions& options = {});

/// The candidate as a Verified. Mismatch if it is different, Unsupported if the answer is unknown;
/// the message is the verdict.
Result<Verified> verified(ir::GraphPtr reference, ir::GraphPtr candidate,
                          const VerifyOptions& options = {});

}  // namespace mirage::verify
