#include "search/assignment.h"

#include <algorithm>
#include <bit>

namespace mirage::search {
namespace {

constexpr int kMaxGridAxes = 3;

}  // namespace

std::vector<Assignment> assignments(const Problem& problem) {
  std::vector<ClassId> free, bound;  // free: in all targets; bound: in none
  for (size_t c = 0; c < problem.classes.size(); ++c) {
    const ClassId id = static_cast<ClassId>(c);
    size_t count = 0;
    for (ir::ValueId target : problem.targets)
      count += contains_class(problem.dims_of(target), id) ? 1 : 0;
    if (count == problem.targets.size()) free.push_back(id);
    if (count == 0) bound.push_back(id);
  }

  std::vector<std::vector<ClassId>> grids;
  for (uint32_t mask = 1; mask < (1u << free.size()); ++mask) {
    if (std::popcount(mask) > kMaxGridAxes) continue;
    std::vector<ClassId> grid;
    for (size_t i = 0; i < free.size(); ++i)
      if (mask >> i & 1) grid.push_back(free[i]);
    grids.push_back(std::move(grid));
  }
  if (grids.empty()) grids.emplace_back();

  std::vector<std::vector<ClassId>> loops{{}};
  for (ClassId id : bound) loops.push_back({id});
  for (size_t i = 0; i < bound.size(); ++i)
    for (size_t j = i + 1; j < bound.size(); ++j) loops.push_back({bound[i], bound[j]});

  std::vector<Assignment> result;
  for (const auto& loop : loops)
    for (const auto& grid : grids) result.push_back({grid, loop});
  return result;
}

std::string to_string(const Assignment& assignment, const Problem& problem) {
  std::string text = "grid{";
  for (size_t i = 0; i < assignment.grid.size(); ++i)
    text += (i ? "," : "") + problem.classes[assignment.grid[i]].name;
  text += "} loop{";
  for (size_t i = 0; i < assignment.loop.size(); ++i)
    text += (i ? "," : "") + problem.classes[assignment.loop[i]].name;
  return text + "}";
}

}  // namespace mirage::search
