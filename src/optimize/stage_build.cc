#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "codegen/cpu/emit.h"
#include "optimize/stages.h"
#include "runtime/load.h"

namespace mirage::optimize {
namespace {

/// The answer where verification did not let the candidate through, else the kind of error.
std::string_view reason_of(Stage stage, const Error& error) {
  if (stage == Stage::Verify && error.code == Code::Mismatch)
    return name_of(verify::Answer::Different);
  if (stage == Stage::Verify && error.code == Code::Unsupported)
    return name_of(verify::Answer::Unknown);
  return name_of(error.code);
}

void record(Run& run, Track& track, Stage stage, Result<Built> built) {
  if (built || stage > Stage::Verify) ++run.report.verified;
  if (built) {
    ++run.report.built;
    track.report.verdict = built->verified.verdict();
    track.built = std::move(*built);
    return;
  }
  track.report.lost = fmt::format("{}: {}", name_of(stage), built.error().message);
  run.reject(stage, reason_of(stage, built.error()), built.error().message);
}

/// What several threads do with the tracks from `first` on.
class Builders {
 public:
  Builders(Run& run, size_t first)
      : run_(run),
        next_(first),
        wants_precompiled_(std::exchange(run.wants_precompiled, false)),
        has_baseline_(first > 0) {}

  void work() {
    for (size_t index = next_++; index < run_.tracks.size(); index = next_++) {
      if (index > 0) wait_for_baseline();
      // Whoever builds candidate 0 begins at once. Failing here costs nothing but time.
      if (index > 0 && wants_precompiled_.exchange(false)) {
        runtime::CompileOptions options = run_.build.compile;
        options.deadline = run_.end_of(kBuildEnd);
        (void)runtime::precompile(codegen::unit_for(run_.build.target), options);
      }
      if (index == 0)
        compile_baseline();
      else
        build_one(run_.tracks[index]);
      ++done_;
    }
  }

  size_t done() const { return done_; }
  int left_out() const { return left_out_; }

 private:
  /// Where time is short, nothing competes with candidate 0, and its compilation says how many more
  /// there is time for.
  void wait_for_baseline() const {
    while (run_.options.time_limit_seconds < kPlentyOfTime && !has_baseline_ &&
           !run_.deadline.is_over())
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  void compile_baseline() {
    runtime::CompileOptions options = run_.build.compile;
    options.deadline = run_.deadline;
    Built& built = *run_.tracks[0].built;
    const double begun = run_.elapsed();
    auto executable = runtime::load_when_run(built.source, options);
    const std::lock_guard lock(mutex_);
    run_.build_seconds.add(run_.elapsed() - begun);
    has_baseline_ = true;
    if (executable) {
      ++run_.report.built;
      built.executable = std::move(*executable);
    } else if (executable.error().code == Code::Timeout && run_.deadline.is_over()) {
      run_.skip(Stage::Compile, "candidate 0 is compiled when it is first run");
    } else {
      run_.baseline_error = std::move(executable.error());
      run_.baseline_error->message = "the program as written: " + run_.baseline_error->message;
    }
  }

  void build_one(Track& track) {
    bool may = true;
    {
      const std::lock_guard lock(mutex_);
      may = run_.may_begin(kBuildShare, kBuildEnd, run_.build_seconds.value());
    }
    const Deadline end = run_.end_of(kBuildEnd);
    if (may) {
      BuildOptions options = run_.build;
      options.lower.may_use_blas = track.wants_blas;
      options.compile.deadline = end;
      const double begun = run_.elapsed();
      Stage stage = Stage::Verify;
      Result<Built> built = build(run_.program, track.proposal.graph, options, stage);
      const std::lock_guard lock(mutex_);
      may = built || !end.is_over();
      if (may) {
        run_.build_seconds.add(run_.elapsed() - begun);
        record(run_, track, stage, std::move(built));
      }
    }
    if (may) return;
    track.report.lost = "no time to build it";
    ++left_out_;
  }

  Run& run_;
  std::atomic<size_t> next_, done_ = 0;
  std::atomic<bool> wants_precompiled_;
  std::atomic<bool> has_baseline_;  // or why not
  std::atomic<int> left_out_ = 0;
  std::mutex mutex_;  // of the run
};

}  // namespace

Result<void> begin_baseline(Run& run) {
  Stage stage = Stage::Verify;
  Track& track = run.tracks[0];
  MIRAGE_TRY(Built built, build_source(run.program, run.program, run.build, stage));
  ++run.report.verified;
  track.report.verdict = built.verified.verdict();
  track.built = std::move(built);
  return {};
}

void build_tracks(Run& run, size_t first) {
  const double begun = run.elapsed();
  Builders builders(run, first);
  const size_t total = run.tracks.size() - first;
  std::vector<std::thread> threads;
  for (int i = 0; i < std::min<int>(run.threads, static_cast<int>(total)); ++i)
    threads.emplace_back([&] { builders.work(); });
  while (builders.done() < total) {
    run.tell("build", static_cast<int64_t>(builders.done()), static_cast<int64_t>(total));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (std::thread& thread : threads) thread.join();
  if (builders.left_out() > 0)
    run.skip(Stage::Compile,
             fmt::format("{} of {} programs were not built", builders.left_out(), total));
  run.spend("build", begun);
}

}  // namespace mirage::optimize
