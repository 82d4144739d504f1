#pragma once
// A found kernel before its tile sizes are chosen, and how to make it an ordinary graph.

#include <memory>
#include <string>
#include <vector>

#include "search/assignment.h"
#include "search/extract.h"

namespace mirage::search {

struct StructureAxis {
  std::string name;
  ir::Role role = ir::Role::Grid;
  std::vector<ClassId> classes;  // what it splits: one class, or several of one loop
  int64_t extent = 1;            // the smallest of its classes': an upper bound of trips
};

struct Structure {
  ProblemPtr problem;
  Assignment assignment;
  std::vector<StructureAxis> axes;  // grid axes first, the loop last
  Plan plan;

  /// The program as a kernel graph with one block operator (outputs that are inputs pass through).
  /// trips: one per axis. They need not divide the extents, but every step must get elements (use
  /// fit_trips); else BadInput.
  Result<ir::GraphPtr> instantiate(const std::vector<int64_t>& trips) const;
  std::string describe() const;  // one line
};

Structure structure_of(ProblemPtr problem, const Assignment& assignment, Plan plan);

/// The largest trips <= wanted for which no tile of any of the axis's classes is empty.
int64_t fit_trips(const Problem& problem, const StructureAxis& axis, int64_t wanted);

}  // namespace mirage::search
