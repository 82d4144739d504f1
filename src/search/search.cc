#include "search/search.h"

#include <algorithm>
#include <chrono>

#include "search/phases.h"

namespace mirage::search {
namespace {

constexpr std::array<std::string_view, kDroppedReasons> kDroppedNames = {
    "useless", "dishonest", "non-monotone", "undefined", "unreachable", "duplicate"};

}  // namespace

std::string_view name_of(Dropped reason) { return kDroppedNames[static_cast<size_t>(reason)]; }

std::string_view name_of(Stop stop) {
  constexpr std::string_view kNames[] = {"complete", "time limit", "node limit", "cancelled"};
  return kNames[static_cast<size_t>(stop)];
}

Result<SearchResult> search(const ir::Graph& program, const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  SearchResult result;
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  auto problem = problem_of(program);
  if (!problem) {
    if (problem.error().code != Code::Unsupported) return tl::unexpected(problem.error());
    result.reason = problem.error().message;
    result.stats.seconds = elapsed();
    return result;
  }
  const ValueGraph graph = own_values(**problem);
  SearchStats& stats = result.stats;
  stats.nodes = graph.nodes.size();
  stats.edges = graph.edges.size();
  const ExtractOptions extract_options{options.max_plans_per_assignment, options.max_operators};
  for (const Assignment& assignment : assignments(**problem)) {
    ++stats.assignments;
    Extracted extracted =
        extract(**problem, graph, phased(graph, assignment), assignment, extract_options);
    if (extracted.plans.empty()) {
      ++stats.dropped[static_cast<size_t>(Dropped::Unreachable)];
      continue;
    }
    ++stats.fused_assignments;
    for (Plan& plan : extracted.plans)
      result.structures.push_back(structure_of(*problem, assignment, std::move(plan)));
  }
  stats.plans = result.structures.size();
  std::stable_sort(
      result.structures.begin(), result.structures.end(),
      [](const Structure& a, const Structure& b) { return a.plan.cost < b.plan.cost; });
  if (result.structures.size() > options.max_structures)
    result.structures.resize(options.max_structures);
  stats.seconds = elapsed();
  return result;
}

}  // namespace mirage::search
