#pragma once
// Is this candidate the same function as this program? Strategies, cheapest first: structural
// identity, normal-form proof, random evaluation over finite fields at small sizes (the independent
// judge), a consistency check at the real size, and, where the two differ, a witness over the
// reals. docs/verify.md says what each answer means.

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

/// BadInput if the two do not have the same input types and numbers of outputs. Everything else is
/// a verdict.
Result<Verdict> verify(const ir::Graph& reference, const ir::Graph& candidate,
                       const VerifyOptions& options = {});

/// The candidate as a Verified. Mismatch with the verdict's reason if it is not equivalent.
Result<Verified> verified(ir::GraphPtr reference, ir::GraphPtr candidate,
                          const VerifyOptions& options = {});

}  // namespace mirage::verify
