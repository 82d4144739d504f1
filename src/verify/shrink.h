#pragma once
// The small model of a pair of programs (Theorem S, docs/verify.md): the same two graphs with every
// index class at a small extent, on which equality is checked. Reductions stay reductions and grids
// stay grids: no plain class is given extent 1 that had more. Classes of the same real extent have
// the same small one, so that what is equal for these sizes is not taken for different.

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
  /// Nothing was shrunk.
  bool is_real = false;
};

/// Whether the graphs get multiplicities (multiplicity.h) as further inputs. Classes are one longer
/// then.
enum class Multiplicities : uint8_t {
  None,
  ByClass,   // every class has weights of its own
  ByExtent,  // classes of one real extent share theirs
};

/// The graphs must have inputs of the same shapes and as many outputs. An error where the
/// pair has no small model, or none with multiplicities.
Result<SmallPair> shrink(const ir::Graph& reference, const ir::Graph& candidate,
                         Multiplicities multiplicities = Multiplicities::None);

}  // namespace mirage::verify
