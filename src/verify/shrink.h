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
  /// Every class has at least the extent that the theorem asks for, and none was kept for want of a
  /// common refinement. (Families and dead binders are judged by the caller.)
  bool is_large_enough = true;
};

/// `extra` > 0: another size, for dead binders, at which every plain class is one to three longer.
Result<SmallPair> shrink(const ir::Graph& reference, const ir::Graph& candidate, int64_t extra = 0);

}  // namespace mirage::verify
