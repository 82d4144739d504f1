#include "optimize/optimize.h"

#include <algorithm>

#include "optimize/run.h"
#include "optimize/stages.h"
#include "runtime/cpu/blas.h"
#include "runtime/load.h"

namespace mirage::optimize {
namespace {

Track candidate_zero(const Run& run) {
  Track track;
  track.proposal.graph = run.program;
  track.proposal.plan = "the program as written, operator by operator";
  return track;
}

/// Candidate 0 with the library's matrix products: what a person would write by hand.
Track library_twin(const Run& run) {
  Track track = candidate_zero(run);
  track.proposal.plan = "the program as written, matrix products by the vendor's library";
  track.wants_blas = true;
  return track;
}

// Two thirds of what may be built go to the best schedule of each structure, the rest to more tile
// sizes of those that turned out fastest.
size_t first_wave_size(int top) { return static_cast<size_t>(std::max(1, (top * 2 + 2) / 3)); }

/// Adds more tile sizes for the two structures that turned out fastest.
void add_second_wave(Run& run, Proposals& proposals) {
  const auto spent = static_cast<size_t>(
      std::count_if(run.tracks.begin(), run.tracks.end(),
                    [&](const Track& track) { return !run.is_as_written(track); }));
  const auto top = static_cast<size_t>(std::max(run.options.top, 1));
  if (spent >= top || run.by_time().empty()) return;
  size_t left = top - spent;
  std::vector<size_t> asked;
  for (size_t index : run.by_time()) {
    if (run.is_as_written(run.tracks[index]) || left == 0 || asked.size() == 2) continue;
    const size_t structure = run.tracks[index].proposal.structure;
    if (std::find(asked.begin(), asked.end(), structure) != asked.end()) continue;
    asked.push_back(structure);
    std::vector<Proposal> more =
        proposals.more_of(structure, asked.size() == 1 ? (left + 1) / 2 : left);
    left -= more.size();
    run.add(std::move(more));
  }
}

Optimized finish(Run& run) {
  Report& report = run.report;
  for (size_t i = 0; i < run.tracks.size(); ++i) {
    Track& track = run.tracks[i];
    CandidateReport& row = track.report;
    row.number = static_cast<int>(i);
    row.plan = track.proposal.plan;
    row.schedule = track.proposal.schedule;
    row.graph = track.graph()->hash;
    row.predicted_us = track.proposal.predicted_us;
    if (track.measured) {
      row.is_timed = true;
      row.timing = track.measured->timing();
      row.deviation = track.measured->deviation();
      row.checked_cases = track.measured->cases();
    }
    report.candidates.push_back(row);
  }
  Track& winner = run.tracks[report.winner];
  remember(run, winner);
  for (std::string& note : run.session.take_notes()) report.notes.push_back(std::move(note));
  if (run.is_cancelled()) report.stop = Stop::Cancelled;
  Built& built = *winner.built;
  if (!built.executable)
    built.executable = runtime::compile_when_run(built.source, run.build.compile);
  report.total_seconds = run.elapsed();
  return {std::move(report), run.program, winner.graph(), std::move(built.program),
          std::move(built.executable)};
}

/// The pipeline, from top to bottom.
Result<Optimized> run_stages(Run& run) {
  MIRAGE_TRY_VOID(prepare(run));
  run.tracks.push_back(candidate_zero(run));
  MIRAGE_TRY_VOID(begin_baseline(run));
  TestMaker tests(run);
  if (run.build.target.backend == lower::Backend::Cpu &&
      runtime::blas_function("cblas_sgemm") != nullptr)
    run.tracks.push_back(library_twin(run));
  std::optional<Proposals> proposals;
  if (std::optional<Proposal> recorded = recall(run)) {
    run.report.is_from_store = true;
    if (recorded->graph->hash != run.program->hash) run.add({std::move(*recorded)});
  } else {
    MIRAGE_TRY(proposals, propose(run));
    run.add(proposals->first_wave(first_wave_size(run.options.top)));
  }
  build_tracks(run, 0);
  if (run.baseline_error) return tl::unexpected(*run.baseline_error);
  MIRAGE_TRY_VOID(tests.wait());
  MIRAGE_TRY_VOID(measure_tracks(run, 0));
  if (proposals) {
    const size_t first = run.tracks.size();
    add_second_wave(run, *proposals);
    if (run.tracks.size() > first) {
      build_tracks(run, first);
      MIRAGE_TRY_VOID(measure_tracks(run, first));
    }
  }
  decide(run);
  return finish(run);
}

}  // namespace

Result<Optimized> optimize(const ir::GraphPtr& program, const OptimizeOptions& options,
                           Session& session) {
  if (program->level != ir::Level::Kernel)
    return bad_input("optimize wants a kernel-level program, found a {} graph",
                     ir::name_of(program->level));
  Run run(program, options, session);
  return run_stages(run);
}

Result<Optimized> optimize(const ir::GraphPtr& program, const OptimizeOptions& options) {
  Session session;
  return optimize(program, options, session);
}

}  // namespace mirage::optimize
