#pragma once
// The consistency check at the real size: entries of first, interior and last tiles of every
// output, evaluated on demand in float64. It catches wrong extents, tails and maps that small
// models cannot show; it adds no probability.

#include <optional>

#include "util/result.h"
#include "verify/verdict.h"

namespace mirage::verify {

struct RealSizeCheck {
  size_t compared = 0;
  bool is_complete = true;            // within the work limit
  std::optional<Witness> difference;  // entries that are not close
};

/// `work_limit`: elementary operations per graph.
Result<RealSizeCheck> check_real_size(const ir::Graph& reference, const ir::Graph& candidate,
                                      const std::vector<size_t>& order, uint64_t seed,
                                      uint64_t work_limit);

}  // namespace mirage::verify
