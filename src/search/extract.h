#pragma once
// The k cheapest plans of a phased value graph: one derivation per item used, acyclic, shared
// values computed once.

#include "search/phases.h"

namespace mirage::search {

/// A plan is a list of steps in an order where arguments come first. Steps keep what lowering to a
/// graph needs, so that a plan outlives the value graph.
struct Step {
  ir::OpKind kind = ir::OpKind::Const;  // Load, Const, Extent, Accum or an operator of the edge
  ir::Attrs attrs;                      // Load: axis is the program input; Extent: the class
  std::vector<uint32_t> args;           // earlier steps
  Dims dims;
  State state = State::Invariant;
  ir::ValueId program_value;       // for names
  bool is_new_difference = false;  // Edge::is_new_difference
};

struct Plan {
  std::vector<Step> steps;
  std::vector<uint32_t> outputs;  // one step per Problem::targets
  double cost = 0;
};

struct ExtractOptions {
  size_t max_plans = 8;
  bool new_differences = false;  // use edges with is_new_difference()
  size_t max_operators = 40;     // loads and scalars not counted
  size_t max_visits = 20'000;    // choices tried, so that time is bounded and results repeatable
};

struct Extracted {
  std::vector<Plan> plans;  // cheapest first; cost ties keep the order of derivations
  size_t visits = 0;
  bool complete = true;  // false: max_visits ended the walk
};

Extracted extract(const Problem& problem, const ValueGraph& graph, const Phased& phased,
                  const Assignment& assignment, const ExtractOptions& options);

}  // namespace mirage::search
