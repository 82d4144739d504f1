#pragma once
// From a program to concrete graphs worth building: structures of the search with tile sizes from
// the cost model, in the order in which they should be tried.

#include <string>
#include <vector>

#include "ir/graph.h"
#include "lower/target.h"
#include "search/cost.h"
#include "search/search.h"
#include "util/result.h"

namespace mirage::optimize {

/// A graph that the search says is worth building; nothing is proven yet.
struct Proposal {
  ir::GraphPtr graph;
  std::string plan;      // in words
  std::string schedule;  // axes with trips
  double predicted_us = 0;
  size_t structure = 0;  // index of the structure it came from
};

/// What the cost model may assume of a target used with this many threads.
search::Limits limits_of(const lower::Target& target, int threads);

class Proposals {
 public:
  /// Ranks the schedules of all structures.
  Proposals(std::vector<search::Structure> structures, const search::Limits& limits,
            size_t schedules_per_structure = 8);

  /// Schedules that were ranked.
  size_t schedules() const { return schedules_; }
  /// Structures with at least one schedule.
  size_t structures() const { return ranked_.size(); }

  /// Up to `count` more graphs: the best schedule of each structure, cheapest structure first.
  /// Twins of graphs that were given before are left out.
  std::vector<Proposal> first_wave(size_t count);
  /// Up to `count` further schedules of one structure.
  std::vector<Proposal> more_of(size_t structure, size_t count);

 private:
  struct Ranked {
    size_t structure;
    std::vector<search::Schedule> schedules;
    size_t next = 0;
  };
  /// The next schedule that gives a new graph; nothing when there is none.
  std::vector<Proposal> take(Ranked& ranked, size_t count);

  std::vector<search::Structure> structures_;
  std::vector<Ranked> ranked_;  // cheapest first
  std::vector<Hash128> given_;
  size_t schedules_ = 0;
};

}  // namespace mirage::optimize
