#pragma once
// The consistency check at the real size: entries at borders of tiles of every output and random
// ones, evaluated on demand in float64 within a budget of work. It catches wrong extents, tails and
// maps that small models cannot show; it adds no probability.

#include <optional>

#include "util/result.h"
#include "verify/verdict.h"

namespace mirage::verify {

struct RealSizeCheck {
  size_t compared = 0;
  bool is_complete = true;            // every entry that was chosen was affordable
  std::optional<Witness> difference;  // entries that are not close
};

/// `work`: operations on elements that may be spent in each graph. Entries that are expected to
/// cost more than what is left are passed over; the first entries may cost four times as much, so
/// that something is compared.
Result<RealSizeCheck> check_real_size(const ir::Graph& reference, const ir::Graph& candidate,
                                      const std::vector<size_t>& order, uint64_t seed,
                                      uint64_t work);

}  // namespace mirage::verify
