#pragma once
// The meaning of a kernel-level graph, bodies of its block operators included: one normal form per
// output over the index atoms of the program. It is what proofs compare, and what the search starts
// from.

#include <span>
#include <string>
#include <vector>

#include "algebra/normal_form.h"
#include "algebra/unify.h"
#include "ir/graph.h"
#include "util/result.h"

namespace mirage::algebra {

/// Variables of a value: the flattened list of its dimensions' nodes, position p being free
/// variable (nodes[p], tag p).
struct ValueMeaning {
  Nf form;
  Dims dims;
};

struct Meaning {
  std::vector<ValueMeaning> outputs;
  /// Per value of the kernel graph; the form is invalid where there is none.
  std::vector<ValueMeaning> values;
  /// Functions and operators taken without a law: "erf", "gauge_max", ..., sorted.
  std::vector<std::string> uninterpreted;
};

/// Meaning of several graphs over common index atoms; input i of every graph is tensor i.
/// Unsupported (with the reason) where an output has no normal form, such as for an infinite
/// literal, or splits have no common refinement.
Result<std::vector<Meaning>> meanings_of(Arena& arena, std::span<const ir::Graph* const> graphs);
Result<Meaning> meaning_of(Arena& arena, const ir::Graph& graph);

}  // namespace mirage::algebra
