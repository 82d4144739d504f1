#include "search/search.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <tuple>

#include "search/closure.h"
#include "search/phases.h"
#include "util/deadline.h"

namespace mirage::search {
namespace {

using Clock = Deadline::Clock;

constexpr std::array<std::string_view, kDroppedReasons> kDroppedNames = {
    "useless",     "dishonest", "non-monotone", "undefined",
    "unreachable", "detour",    "invalid",      "cancelling"};
constexpr std::array<std::string_view, kDroppedReasons> kDroppedMeanings = {
    "values that are part of no output",
    "values that are constant along an axis",
    "values that undo an operator",
    "values without a normal form, or too large",
    "axes with which no kernel computes every output",
    "plans that do the work of a cheaper one and more",
    "plans that are no block graph",
    "differences that the program does not compute"};

/// Plans of every assignment, in the order of assignments; which thread did which does not matter.
std::vector<Extracted> extract_all(const Problem& problem, const ValueGraph& graph,
                                   const std::vector<Assignment>& all, const SearchOptions& options,
                                   Clock::time_point deadline, std::atomic<bool>& is_late) {
  ExtractOptions extract_options;
  extract_options.max_plans = options.max_plans_per_assignment;
  extract_options.max_operators = options.max_operators;
  extract_options.new_differences = options.new_differences;
  std::vector<Extracted> results(all.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < all.size(); i = next++) {
      const bool cancelled = options.cancel && options.cancel->load(std::memory_order_relaxed);
      if (cancelled || Clock::now() > deadline) {
        is_late = true;
        return;
      }
      results[i] = extract(problem, graph, phased(graph, all[i]), all[i], extract_options);
    }
  };
  std::vector<std::thread> threads;
  const size_t count =
      std::min<size_t>(static_cast<size_t>(std::max(options.threads, 1)), all.size());
  for (size_t t = 1; t < count; ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return results;
}

// Comparing all values of a program takes time that no limit of the search bounds.
constexpr size_t kLargestProgram = 2'000;

// A closure that used up the time still gets so much more for its plans.
constexpr std::chrono::seconds kLeastForPlans{1};

/// The cheapest plans overall, but of every assignment at least its cheapest, as far as they fit.
void keep_best(std::vector<Structure>& structures, size_t limit) {
  std::vector<std::pair<bool, size_t>> order;  // not first of its assignment, index
  for (size_t i = 0; i < structures.size(); ++i)
    order.emplace_back(i > 0 && structures[i].assignment == structures[i - 1].assignment, i);
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return !a.first;
    return structures[a.second].plan.cost < structures[b.second].plan.cost;
  });
  if (order.size() > limit) order.resize(limit);
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return structures[a.second].plan.cost < structures[b.second].plan.cost;
  });
  std::vector<Structure> kept;
  for (const auto& entry : order) kept.push_back(std::move(structures[entry.second]));
  structures = std::move(kept);
}

/// An operator of a plan: in the loop or not, its kind, the axes it produces.
using Work = std::tuple<bool, ir::OpKind, Dims>;

/// The operators of a plan, sorted. Reading an input once more, as a whole, is work too: it spares
/// an accumulator, and an accumulator spares doing in every step what can be done after the loop.
std::vector<Work> work_of(const Plan& plan) {
  std::vector<Work> work;
  for (const Step& step : plan.steps)
    if (!step.args.empty() || step.state == State::Whole)
      work.emplace_back(step.state == State::InLoop || is_partial(step.state), step.kind,
                        step.dims);
  std::sort(work.begin(), work.end());
  return work;
}

/// Drops plans that do all the work of a cheaper one and more: x * y / y instead of x.
void drop_detours(std::vector<Plan>& plans, SearchStats& stats) {
  std::vector<std::vector<Work>> kept_work;
  std::vector<Plan> kept;
  for (Plan& plan : plans) {
    auto work = work_of(plan);
    const bool is_detour = std::any_of(kept_work.begin(), kept_work.end(), [&](const auto& less) {
      return less.size() < work.size() &&
             std::includes(work.begin(), work.end(), less.begin(), less.end());
    });
    if (is_detour) {
      ++stats.dropped[static_cast<size_t>(Dropped::Detour)];
      continue;
    }
    kept_work.push_back(std::move(work));
    kept.push_back(std::move(plan));
  }
  plans = std::move(kept);
}

}  // namespace

std::string_view name_of(Dropped reason) { return kDroppedNames[static_cast<size_t>(reason)]; }
std::string_view meaning_of(Dropped reason) {
  return kDroppedMeanings[static_cast<size_t>(reason)];
}

std::string_view name_of(Stop stop) {
  constexpr std::string_view kNames[] = {"complete", "time limit", "node limit", "cancelled"};
  return kNames[static_cast<size_t>(stop)];
}

Result<SearchResult> search(const ir::Graph& program, const SearchOptions& options) {
  const Clock::time_point start = Clock::now();
  const Clock::time_point deadline = Deadline::after(start, options.time_limit_seconds);
  SearchResult result;
  SearchStats& stats = result.stats;
  const auto finish = [&] {
    stats.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  };
  const size_t most = std::max(options.max_nodes, kLargestProgram);
  if (program.values.size() > most) {
    result.reason = fmt::format("search: the program has {} values, more than the {} of the search",
                                program.values.size(), most);
    stats.stop = Stop::NodeLimit;
    finish();
    return result;
  }
  auto problem = problem_of(program);
  if (!problem) {
    if (problem.error().code != Code::Unsupported) return tl::unexpected(problem.error());
    result.reason = problem.error().message;
    finish();
    return result;
  }

  // A closure cut short still holds the program's own values, so there is something to extract.
  const ClosureOptions closure_options{options.max_nodes, options.seed, deadline, options.cancel};
  const ValueGraph graph = closure(**problem, closure_options, stats).graph;
  if (!stats.used_algebra)
    result.reason = "search: no normal form of the program; only its own operators were used";

  if (!options.new_differences)
    for (const Edge& edge : graph.edges)
      stats.dropped[static_cast<size_t>(Dropped::Cancelling)] += edge.is_new_difference() ? 1 : 0;

  const std::vector<Assignment> all = assignments(**problem);
  stats.assignments = all.size();
  std::atomic<bool> is_late = false;
  const Clock::time_point extract_deadline = std::max(deadline, Clock::now() + kLeastForPlans);
  std::vector<Extracted> extracted =
      extract_all(**problem, graph, all, options, extract_deadline, is_late);
  if (is_late && stats.stop == Stop::Complete)
    stats.stop = options.cancel && options.cancel->load() ? Stop::Cancelled : Stop::TimeLimit;
  for (size_t i = 0; i < all.size(); ++i) {
    if (extracted[i].plans.empty()) {
      ++stats.dropped[static_cast<size_t>(Dropped::Unreachable)];
      continue;
    }
    ++stats.fused_assignments;
    drop_detours(extracted[i].plans, stats);
    for (Plan& plan : extracted[i].plans)
      result.structures.push_back(structure_of(*problem, all[i], std::move(plan)));
  }
  stats.plans = result.structures.size();
  keep_best(result.structures, options.max_structures);
  const auto is_invalid = [](const Structure& structure) {
    return !structure.instantiate(std::vector<int64_t>(structure.axes.size(), 1));
  };
  stats.dropped[static_cast<size_t>(Dropped::Invalid)] +=
      std::erase_if(result.structures, is_invalid);
  if (result.structures.empty() && result.reason.empty())
    result.reason = "search: no assignment of roles computes every output in one kernel";
  finish();
  return result;
}

}  // namespace mirage::search
