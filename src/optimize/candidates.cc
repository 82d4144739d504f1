#include "optimize/candidates.h"

#include <algorithm>

#include "optimize/proposals.h"
#include "search/search.h"
#include "tune/machine.h"

namespace mirage::optimize {

Result<Candidates> candidates(const ir::GraphPtr& program, const CandidateOptions& options) {
  if (program->level != ir::Level::Kernel)
    return bad_input("expected a kernel-level program, found a {} graph", name_of(program->level));
  BuildOptions build;
  MIRAGE_TRY(build.target, lower::target_named(options.target));
  build.verify.seed = options.seed;
  Candidates result;
  Stage stage = Stage::Verify;
  MIRAGE_TRY(Built as_written, build_source(program, program, build, stage));
  result.built.push_back(std::move(as_written));

  search::SearchOptions limits;
  limits.time_limit_seconds = options.time_limit_seconds;
  limits.threads = options.threads > 0 ? options.threads : tune::core_count();
  limits.seed = options.seed;
  MIRAGE_TRY(search::SearchResult found, search::search(*program, limits));
  if (!found.reason.empty()) result.lost.push_back("search: " + found.reason);
  Proposals proposals(std::move(found.structures), limits_of(build.target, limits.threads));
  for (const Proposal& proposal :
       proposals.first_wave(static_cast<size_t>(std::max(options.top, 0)))) {
    Result<Built> built = build_source(program, proposal.graph, build, stage);
    if (built)
      result.built.push_back(std::move(*built));
    else
      result.lost.push_back(fmt::format("{}: {}", name_of(stage), built.error().message));
  }
  return result;
}

}  // namespace mirage::optimize
