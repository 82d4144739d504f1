#pragma once
// Which dimensions are the same index. Every axis of every value becomes a list of index atoms
// (most significant first, product of extents = extent), by unifying what the operators make equal:
// inner extents of matmul, batch and elementwise axes, both sides of a reshape, a load's axis and
// the block axes that split it, inputs of the compared graphs. Atoms are roots of the arena's index
// tree; where one graph splits an axis and another does not, both are refined to the common split
// (papers 2.5: "every dimension is a product of named index atoms").

#include <span>
#include <vector>

#include "algebra/normal_form.h"
#include "ir/graph.h"
#include "util/result.h"

namespace mirage::algebra {

using AtomList = std::vector<Node>;
/// One list per axis; an axis of one element has an empty list.
using Dims = std::vector<AtomList>;

struct GraphIndex {
  std::vector<Dims> values;                     // by ValueId
  std::vector<AtomList> axes;                   // block level: by axis of the launch
  std::vector<std::vector<GraphIndex>> blocks;  // by OpId: empty, or one: the index of the body
  std::vector<bool> is_opaque;  // by OpId: a reshape whose sides have no common refinement
};

/// An axis of `whole` elements cut into tiles of which the last one is shorter.
struct Ragged {
  AtomList axis;
  AtomList tile;
  Node whole;
};

struct Unified {
  std::vector<GraphIndex> graphs;
  std::vector<Ragged> ragged;
};

/// Jointly for all graphs, whose inputs correspond (BadInput unless count and shapes agree).
/// Unsupported if two splits have no common refinement, or for an empty axis.
Result<Unified> unify(IndexTree& index, std::span<const ir::Graph* const> graphs);

/// Dims in one list.
AtomList flattened(const Dims& dims);

}  // namespace mirage::algebra
