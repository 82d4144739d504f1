#pragma once
// Which index classes the grid splits and which the loop walks. Extents play no part: trips are
// chosen by the schedule.

#include <string>
#include <vector>

#include "search/problem.h"

namespace mirage::search {

struct Assignment {
  std::vector<ClassId> grid;  // ascending; one grid axis each
  /// One loop axis walks all of these at once (a value may depend on one of them only); empty:
  /// no loop.
  std::vector<ClassId> loop;
  bool operator==(const Assignment&) const = default;
};

/// All assignments under which one kernel could compute the targets: one to three grid classes free
/// in every target (none only where no class is), and a loop over nothing, one class, or two
/// classes, that no target carries. Deterministic order.
std::vector<Assignment> assignments(const Problem& problem);

std::string to_string(const Assignment& assignment, const Problem& problem);

}  // namespace mirage::search
