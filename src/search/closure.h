#pragma once
// Saturation: all relevant values of a program, and every operator that computes one of them from
// others. Kernels, tiles and loops do not appear: search/phases.h reads the result for each
// assignment of roles.

#include <atomic>
#include <chrono>

#include "search/samples.h"
#include "search/search.h"
#include "search/value_graph.h"

namespace mirage::search {

struct ClosureOptions {
  size_t max_nodes = 2'000;
  uint64_t seed = 0;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  const std::atomic<bool>* cancel = nullptr;
};

struct Saturated {
  ValueGraph graph;
  Sampler sampler;
  std::vector<Sample> samples;  // by node

  /// The node of a value, or an invalid id.
  NodeId find(const Dims& dims, const Sample& sample) const;
};

/// Contains all of own_values(problem), so that the targets are always computable. Counts into
/// stats.
Saturated closure(const Problem& problem, const ClosureOptions& options, SearchStats& stats);

}  // namespace mirage::search
