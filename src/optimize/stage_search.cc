#include <algorithm>

#include "optimize/stages.h"

namespace mirage::optimize {
namespace {

// Precompiling the headers takes about as long as two programs gain by it.
constexpr int64_t kWorthPrecompiling = 4;

}  // namespace

Result<Proposals> propose(Run& run) {
  const double begun = run.elapsed();
  run.tell("search", 0, 1);
  search::SearchOptions options;
  options.time_limit_seconds = kSearchShare * run.options.time_limit_seconds;
  options.threads = run.threads;
  options.seed = run.options.seed;
  options.cancel = run.options.cancel;
  if (run.options.max_states > 0) options.max_nodes = static_cast<size_t>(run.options.max_states);
  MIRAGE_TRY(search::SearchResult found, search::search(*run.program, options));
  Report& report = run.report;
  report.search = found.stats;
  report.values = static_cast<int64_t>(found.stats.nodes);
  report.structures = static_cast<int64_t>(found.structures.size());
  for (size_t i = 0; i < search::kDroppedReasons; ++i)
    if (found.stats.dropped[i] > 0)
      run.reject(Stage::Search, search::meaning_of(static_cast<search::Dropped>(i)), "",
                 static_cast<int64_t>(found.stats.dropped[i]));
  if (found.stats.stop == search::Stop::TimeLimit)
    run.skip(Stage::Search, "values and plans after the time limit of the search", false);
  if (!found.reason.empty()) report.notes.push_back(found.reason);
  Proposals proposals(std::move(found.structures), limits_of(run.build.target, run.threads));
  report.schedules = static_cast<int64_t>(proposals.schedules());
  run.wants_precompiled =
      run.build.target.backend == lower::Backend::Cpu &&
      std::min<int64_t>(report.schedules, run.options.top) >= kWorthPrecompiling &&
      run.options.time_limit_seconds >= kPlentyOfTime;
  run.spend("search", begun);
  return proposals;
}

}  // namespace mirage::optimize
