#pragma once
// The inputs that a built program is checked on: ordinary ones, and the ones that break careless
// numerics. Seeded: family, seed and graph give the same bytes everywhere.

#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "tune/host_tensor.h"
#include "util/result.h"

namespace mirage::tune {

enum class Family : uint8_t {
  Ordinary,     // about N(0, 1); the one that times are taken on
  Large,        // about +-1e4 (one eighth of the largest f16): logits that overflow a bare exp
  Equal,        // all elements the same
  Dominant,     // one element of each row far larger than the rest
  Alternating,  // +1, -1 with small noise: sums cancel
  Zeros,        // rows of zeros among ordinary ones
  Subnormal,    // the smallest numbers of the type
  NotANumber,   // one NaN
  Infinite,     // one +inf, one -inf, and a whole row of -inf
};

std::string_view name_of(Family family);
/// Ordinary first.
std::span<const Family> all_families();
/// Whether every element is about as likely up as down, so that rounding errors grow like a root.
bool is_random(Family family);

/// One tensor an input of the graph, in its strides; the same for any number of threads.
Result<std::vector<HostTensor>> make_inputs(const ir::Graph& graph, Family family, uint64_t seed,
                                            int threads = 1);

}  // namespace mirage::tune
