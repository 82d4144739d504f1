#pragma once
// Compositions that are one operator in muGraph JSON, found in a graph. Used by the export; the
// import makes the same compositions.

#include <vector>

#include "ir/graph.h"

namespace mirage::ir::mugraph {

enum class Pattern : uint8_t {
  RmsNorm,          // div(x, sqrt(mean(square x, last)))
  AccumRms,         // sqrt(accum mean(mean(square x, last)))
  AccumMean,        // accum mean(mean(x, last))
  AccumSum,         // accum sum(sum(x, last))
  AccumSumToDimx,   // accum sum(reshape(sum(reshape(x, [.., n/r, r]), -2), [.., r]))
  AccumRescaleSum,  // accum_rescale(sum(x, last), r)
  SumToDimx,        // reshape(sum(reshape(x, [.., n/r, r, ..]), axis), [.., r, ..])
};

struct Match {
  Pattern pattern;
  ValueId x;         // the operand that goes in
  int64_t axis = 0;  // SumToDimx
  int64_t dimx = 0;  // AccumSumToDimx, SumToDimx: r
};

struct Matches {
  std::vector<int> by_op;         // by OpId: index into list, or -1
  std::vector<bool> is_absorbed;  // by OpId: inside a larger match, has no operator of its own
  std::vector<Match> list;
};

/// Inner values of a match are read nowhere else and are no outputs. Matches do not overlap.
Matches find_compositions(const Graph& graph);

}  // namespace mirage::ir::mugraph
