#pragma once
// The small model of a pair of programs (Theorem S, docs/verify.md): the same two graphs with every
// index class at a small extent, on which equality is checked. Reductions stay reductions and grids
// stay grids: no plain class is given extent 1 that had more.

#include <string>
#include <vector>

#include "ir/graph.h"
#include "util/result.h"

namespace mirage::verify {

struct SmallPair {
  ir::GraphPtr reference;
  ir::GraphPtr candidate;
  /// What each class was shrunk to, and why some were not.
  std::vector<std::string> notes;
  /// Every class has at least the extent that the theorem asks for, none was kept for want of a
  /// common refinement, and no split has uneven tiles. (Families and multiplicities are judged by
  /// the caller.)
  bool is_large_enough = true;
};

Result<SmallPair> shrink(const ir::Graph& reference, const ir::Graph& candidate);

/// Every plain class one longer, with multiplicities (multiplicity.h): the graphs have one more
/// input for each class.
Result<SmallPair> shrink_with_multiplicities(const ir::Graph& reference,
                                             const ir::Graph& candidate);

}  // namespace mirage::verify
