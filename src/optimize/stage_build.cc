#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "codegen/cpu/emit.h"
#include "optimize/stages.h"

namespace mirage::optimize {
namespace {

/// "unknown" or "different" for what verification did not let through, else the kind of error.
std::string_view reason_of(Stage stage, const Error& error) {
  if (stage != Stage::Verify || error.code != Code::Mismatch) return name_of(error.code);
  const bool is_unknown = error.message.find("unknown") != std::string::npos;
  return is_unknown ? "unknown" : "different";
}

void record(Run& run, Track& track, Stage stage, Result<Built> built) {
  if (built || stage > Stage::Verify) ++run.report.verified;
  if (built) {
    ++run.report.built;
    track.report.verdict = built->verified.verdict();
    track.built = std::move(*built);
    return;
  }
  if (&track == &run.tracks[0]) run.baseline_error = built.error();
  track.report.lost = fmt::format("{}: {}", name_of(stage), built.error().message);
  run.reject(stage, reason_of(stage, built.error()), built.error().message);
}

}  // namespace

void build_tracks(Run& run, size_t first) {
  const double begun = run.elapsed();
  std::atomic<size_t> next = first;
  std::atomic<size_t> done = 0;
  std::mutex mutex;
  const size_t total = run.tracks.size() - first;
  std::atomic<bool> wants_headers = std::exchange(run.wants_precompiled, false);
  const auto work = [&] {
    for (;;) {
      const size_t index = next.fetch_add(1);
      if (index >= run.tracks.size()) return;
      // Whoever builds candidate 0 begins at once. Failing here costs nothing but time.
      if (index > 0 && wants_headers.exchange(false))
        (void)runtime::precompile(codegen::unit_for(run.build.target), run.build.compile);
      Track& track = run.tracks[index];
      Stage stage = Stage::Verify;
      bool may = true;
      if (index > 0) {
        const std::lock_guard lock(mutex);
        may = run.may_begin(kBuildShare);
      }
      if (!may) {
        track.report.lost = "no time to build it";
      } else {
        BuildOptions options = run.build;
        options.lower.library = track.wants_library;
        Result<Built> built = build(run.program, track.proposal.graph, options, stage);
        const std::lock_guard lock(mutex);
        record(run, track, stage, std::move(built));
      }
      ++done;
    }
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < std::min<int>(run.threads, static_cast<int>(total)); ++i)
    workers.emplace_back(work);
  while (done < total) {
    run.tell("build", static_cast<int64_t>(done), static_cast<int64_t>(total));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (std::thread& worker : workers) worker.join();
  run.spend("build", begun);
}

}  // namespace mirage::optimize
