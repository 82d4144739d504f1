#include "optimize/optimize.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "device_headers.h"
#include "ir/text.h"
#include "lower/gauge.h"
#include "optimize/build.h"
#include "optimize/proposals.h"
#include "runtime/cpu/blas.h"
#include "tune/machine.h"
#include "tune/measure.h"
#include "tune/suite.h"

namespace mirage::optimize {
namespace {

using Clock = std::chrono::steady_clock;

// Shares of the time limit after which no more of a kind is begun.
constexpr double kSearchShare = 0.15;
constexpr double kBuildShare = 0.55;
constexpr double kMeasureShare = 0.85;

/// A candidate on its way: index 0 is candidate 0.
struct Track {
  Proposal proposal;
  bool wants_library = false;  // matrix products of the vendor's library, where lowering can use it
  CandidateReport report;
  std::optional<Built> built;
  std::optional<tune::Measured> measured;
};

class Run {
 public:
  Run(const ir::GraphPtr& program, const OptimizeOptions& options, Session& session)
      : program_(program), options_(options), session_(session) {}

  Result<Optimized> operator()() {
    MIRAGE_TRY_VOID(prepare());
    tracks_.push_back(candidate_zero());
    if (runtime::blas_function("cblas_sgemm") != nullptr) tracks_.push_back(library_twin());
    MIRAGE_TRY(std::optional<Proposal> recorded, recorded_winner());
    std::optional<Proposals> proposals;
    if (recorded) {
      report_.is_from_store = true;
      if (recorded->graph->hash != program_->hash) add({std::move(*recorded)});
    } else {
      MIRAGE_TRY(proposals, propose());
      add(proposals->first_wave(first_wave_size()));
    }
    build_all(0);
    if (!tracks_[0].built) return tl::unexpected(std::move(baseline_error_));
    MIRAGE_TRY_VOID(make_tests());
    MIRAGE_TRY_VOID(measure_all(0));
    if (proposals) MIRAGE_TRY_VOID(second_wave(*proposals));
    MIRAGE_TRY_VOID(decide());
    return finish();
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool is_cancelled() const { return options_.cancel != nullptr && options_.cancel->load(); }
  /// Whether to begin something that may run until this share of the time is over.
  bool may_begin(double share) {
    if (is_cancelled()) {
      report_.stop = Stop::Cancelled;
      return false;
    }
    if (elapsed() < share * options_.time_limit_seconds) return true;
    if (report_.stop == Stop::Complete) report_.stop = Stop::TimeLimit;
    return false;
  }
  size_t first_wave_size() const {
    return static_cast<size_t>(std::max(1, (options_.top * 2 + 2) / 3));
  }

  void tell(std::string_view stage, int64_t done, int64_t total) const {
    if (!options_.progress) return;
    Progress progress{stage, done, total};
    for (const Track& track : tracks_)
      if (track.measured) {
        const double us = track.measured->timing().median_us;
        if (&track == &tracks_[0]) progress.baseline_us = us;
        if (progress.best_us == 0 || us < progress.best_us) progress.best_us = us;
      }
    progress.seconds_left = std::max(0.0, options_.time_limit_seconds - elapsed());
    options_.progress(progress);
  }

  void reject(Stage stage, std::string_view reason, const std::string& example, int64_t count = 1) {
    for (Rejected& rejected : report_.rejected)
      if (rejected.stage == stage && rejected.reason == reason) {
        rejected.count += count;
        return;
      }
    report_.rejected.push_back({stage, std::string(reason), count, example});
  }

  Result<void> prepare() {
    MIRAGE_TRY(build_.target, lower::target_named(options_.target));
    if (build_.target.backend != lower::Backend::Cpu)
      return unsupported("target {}: this program has no back end for it", build_.target.name);
    if (!lower::runs_here(build_.target))
      return unsupported("target {}: this processor does not have its instructions",
                         build_.target.name);
    build_.compile = session_.compile_options();
    build_.verify.seed = options_.seed;
    MIRAGE_TRY(const runtime::Compiler compiler, runtime::find_compiler(build_.compile.compiler));
    threads_ = options_.threads > 0 ? options_.threads : tune::core_count();
    report_.program = program_->name;
    report_.program_hash = program_->hash;
    report_.target = build_.target.name;
    report_.machine = tune::machine_name();
    report_.compiler = compiler.version;
    report_.version = MIRAGE_VERSION;
    report_.threads = threads_;
    report_.seed = options_.seed;
    if (program_->outputs_implied)
      report_.notes.push_back("no output was marked: the outputs are the values that nobody reads");
    key_ = {program_->hash,
            std::string(build_.target.name),
            fmt::format("time={} states={} top={} threads={} seed={}", options_.time_limit_seconds,
                        options_.max_states, options_.top, threads_, options_.seed),
            compiler.path + " " + compiler.version,
            hash_bytes(device_headers_hash()),
            MIRAGE_VERSION,
            report_.machine};
    return {};
  }

  Track candidate_zero() const {
    Track track;
    track.proposal.graph = program_;
    track.proposal.plan = "the program as written, operator by operator";
    return track;
  }

  /// Candidate 0 with the library's matrix products: what a person would write by hand.
  Track library_twin() const {
    Track track = candidate_zero();
    track.proposal.plan = "the program as written, matrix products by the vendor's library";
    track.wants_library = true;
    return track;
  }

  void add(std::vector<Proposal> proposals) {
    for (Proposal& proposal : proposals) {
      Track track;
      track.proposal = std::move(proposal);
      tracks_.push_back(std::move(track));
    }
  }

  /// The winner of an earlier run under the same key. It is verified and checked like any other.
  Result<std::optional<Proposal>> recorded_winner() {
    if (!options_.use_records) return std::optional<Proposal>();
    tune::RecordStore* store = session_.records();
    if (store == nullptr) return std::optional<Proposal>();
    const Result<std::optional<tune::Record>> record = store->find(key_);
    if (!record) {
      report_.notes.push_back(record.error().message);
      return std::optional<Proposal>();
    }
    if (!*record) return std::optional<Proposal>();
    const Result<std::vector<ir::GraphPtr>> graphs = ir::parse((*record)->program);
    if (!graphs || graphs->size() != 1 || (*graphs)[0]->hash != (*record)->program_hash) {
      report_.notes.push_back("a record of this program is unreadable: searching again");
      return std::optional<Proposal>();
    }
    Proposal proposal;
    proposal.graph = (*graphs)[0];
    proposal.plan = (*record)->plan;
    return std::optional<Proposal>(std::move(proposal));
  }

  Result<Proposals> propose() {
    tell("search", 0, 1);
    search::SearchOptions search;
    search.time_limit_seconds = kSearchShare * options_.time_limit_seconds;
    search.threads = threads_;
    search.seed = options_.seed;
    search.cancel = options_.cancel;
    if (options_.max_states > 0) search.max_nodes = static_cast<size_t>(options_.max_states);
    MIRAGE_TRY(search::SearchResult found, search::search(*program_, search));
    report_.search = found.stats;
    report_.values = static_cast<int64_t>(found.stats.nodes);
    report_.structures = static_cast<int64_t>(found.structures.size());
    for (size_t i = 0; i < search::kDroppedReasons; ++i)
      if (found.stats.dropped[i] > 0)
        reject(Stage::Search, search::name_of(static_cast<search::Dropped>(i)), "",
               static_cast<int64_t>(found.stats.dropped[i]));
    if (!found.reason.empty()) report_.notes.push_back("search: " + found.reason);
    Proposals proposals(std::move(found.structures), limits_of(build_.target, threads_));
    report_.schedules = static_cast<int64_t>(proposals.schedules());
    seconds("search", 0);
    return proposals;
  }

  /// Verifies, lowers and compiles tracks from `first` on, in parallel.
  void build_all(size_t first) {
    const double begun = elapsed();
    std::atomic<size_t> next = first;
    std::atomic<size_t> done = 0;
    std::mutex mutex;
    const size_t total = tracks_.size() - first;
    const auto work = [&] {
      for (;;) {
        const size_t index = next.fetch_add(1);
        if (index >= tracks_.size()) return;
        Track& track = tracks_[index];
        Stage stage = Stage::Verify;
        bool may = true;
        if (index > 0) {
          const std::lock_guard lock(mutex);
          may = may_begin(kBuildShare);
        }
        if (!may) {
          track.report.lost = "no time to build it";
        } else {
          BuildOptions options = build_;
          options.lower.library = track.wants_library;
          Result<Built> built = build(program_, track.proposal.graph, options, stage);
          const std::lock_guard lock(mutex);
          record(track, stage, std::move(built));
        }
        ++done;
      }
    };
    std::vector<std::thread> workers;
    for (int i = 0; i < std::min<int>(threads_, static_cast<int>(total)); ++i)
      workers.emplace_back(work);
    while (done < total) {
      tell("build", static_cast<int64_t>(done), static_cast<int64_t>(total));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    for (std::thread& worker : workers) worker.join();
    seconds("build", begun);
  }

  void record(Track& track, Stage stage, Result<Built> built) {
    if (built || stage > Stage::Verify) ++report_.verified;
    if (built) {
      ++report_.built;
      track.report.verdict = built->verified.verdict();
      track.built = std::move(*built);
      return;
    }
    if (&track == &tracks_[0]) baseline_error_ = built.error();
    track.report.lost = fmt::format("{}: {}", name_of(stage), built.error().message);
    reject(stage, reason_of(stage, built.error()), built.error().message);
  }

  /// "unknown" or "different" for what verification did not let through, else the kind of error.
  static std::string_view reason_of(Stage stage, const Error& error) {
    if (stage != Stage::Verify || error.code != Code::Mismatch) return name_of(error.code);
    const bool is_unknown = error.message.find("unknown") != std::string::npos;
    return is_unknown ? "unknown" : "different";
  }

  Result<void> make_tests() {
    const double begun = elapsed();
    tell("reference", 0, 1);
    MIRAGE_TRY(const ir::GraphPtr safe, lower::make_safe(program_));
    tune::SuiteOptions options;
    options.seed = options_.seed;
    options.threads = threads_;
    options.time_limit_seconds = 0.15 * options_.time_limit_seconds;
    options.is_cancelled = [this] { return is_cancelled(); };
    MIRAGE_TRY(tune::Suite suite, tune::make_suite(program_, *safe, options));
    suite_.emplace(std::move(suite));
    for (const tune::TestCase& test : suite_->cases)
      report_.check_families.emplace_back(tune::name_of(test.family));
    report_.spot_checks = suite_->spot_checks;
    for (const std::string& note : suite_->notes) report_.notes.push_back(note);
    seconds("reference", begun);
    return {};
  }

  tune::MeasureOptions measure_options() const {
    tune::MeasureOptions options;
    options.compile = build_.compile;
    options.threads = threads_;
    const double left = options_.time_limit_seconds - elapsed();
    options.time_limit =
        std::chrono::milliseconds(static_cast<int64_t>(1000 * std::clamp(left, 5.0, 30.0)));
    return options;
  }

  /// Checks and times what was built, from `first` on. Only candidate 0's failure is an error.
  Result<void> measure_all(size_t first) {
    const double begun = elapsed();
    for (size_t i = first; i < tracks_.size(); ++i) {
      Track& track = tracks_[i];
      tell("measure", static_cast<int64_t>(i - first),
           static_cast<int64_t>(tracks_.size() - first));
      if (!track.built) continue;
      if (i > 0 && !may_begin(kMeasureShare)) {
        track.report.lost = "no time to measure it";
        continue;
      }
      Result<tune::Measured> measured =
          tune::measure(track.built->source, *suite_, measure_options());
      if (measured) {
        ++report_.checked;
        ++report_.timed;
        track.measured = std::move(*measured);
        continue;
      }
      const Error& error = measured.error();
      if (is_cancelled()) report_.stop = Stop::Cancelled;
      if (i == 0) return tl::unexpected(error);
      track.report.lost = fmt::format("check: {}", error.message);
      reject(Stage::Check, name_of(error.code), error.message);
    }
    seconds("measure", begun);
    return {};
  }

  /// More tile sizes for the structures that turned out fastest.
  Result<void> second_wave(Proposals& proposals) {
    const auto spent = static_cast<size_t>(
        std::count_if(tracks_.begin(), tracks_.end(),
                      [this](const Track& track) { return track.proposal.graph != program_; }));
    const auto top = static_cast<size_t>(std::max(options_.top, 1));
    if (spent >= top || !may_begin(kBuildShare)) return {};
    std::vector<size_t> best = by_time();
    const size_t first = tracks_.size();
    size_t left = top - spent;
    std::vector<size_t> asked;
    for (size_t index : best) {
      if (tracks_[index].proposal.graph == program_ || left == 0 || asked.size() == 2) continue;
      const size_t structure = tracks_[index].proposal.structure;
      if (std::find(asked.begin(), asked.end(), structure) != asked.end()) continue;
      asked.push_back(structure);
      std::vector<Proposal> more =
          proposals.more_of(structure, asked.size() == 1 ? (left + 1) / 2 : left);
      left -= more.size();
      add(std::move(more));
    }
    if (tracks_.size() == first) return {};
    build_all(first);
    return measure_all(first);
  }

  /// Indices of the tracks that were timed, fastest first.
  std::vector<size_t> by_time() const {
    std::vector<size_t> order;
    for (size_t i = 0; i < tracks_.size(); ++i)
      if (tracks_[i].measured) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return tracks_[a].measured->timing().median_us < tracks_[b].measured->timing().median_us;
    });
    return order;
  }

  /// The final between the three fastest and candidate 0, in turns in one process.
  Result<void> decide() {
    constexpr size_t kFinalists = 3;
    // A fused program must be faster by more than noise to replace what the user wrote.
    constexpr double kWorthIt = 0.99;
    const double begun = elapsed();
    std::vector<size_t> finalists = by_time();
    if (finalists.size() > kFinalists) finalists.resize(kFinalists);
    if (std::find(finalists.begin(), finalists.end(), size_t{0}) == finalists.end())
      finalists.push_back(0);
    tell("final", 0, 1);
    if (finalists.size() > 1 && !is_cancelled()) {
      std::vector<const codegen::SourceUnit*> units;
      std::vector<tune::Measured*> measured;
      for (size_t index : finalists) {
        units.push_back(&tracks_[index].built->source);
        measured.push_back(&*tracks_[index].measured);
      }
      tune::MeasureOptions options = measure_options();
      options.time.budget = std::chrono::milliseconds(1000);
      options.time.min_samples = 7;
      const Result<void> again = tune::measure_again(units, measured, *suite_, options);
      if (!again) report_.notes.push_back("the final was not timed: " + again.error().message);
    }
    report_.winner = 0;
    double best = tracks_[0].measured->timing().median_us * kWorthIt;
    for (size_t index : finalists)
      if (tracks_[index].measured->timing().median_us < best) {
        best = tracks_[index].measured->timing().median_us;
        report_.winner = index;
      }
    seconds("final", begun);
    return {};
  }

  void seconds(const char* stage, double begun) {
    report_.stage_seconds[stage] += elapsed() - begun;
  }

  Result<Optimized> finish() {
    for (size_t i = 0; i < tracks_.size(); ++i) {
      Track& track = tracks_[i];
      CandidateReport& row = track.report;
      row.number = static_cast<int>(i);
      row.plan = track.proposal.plan;
      row.schedule = track.proposal.schedule;
      row.graph = track.proposal.graph->hash;
      row.predicted_us = track.proposal.predicted_us;
      if (track.measured) {
        row.is_timed = true;
        row.timing = track.measured->timing();
        row.deviation = track.measured->deviation();
        row.checked_cases = track.measured->cases();
      }
      report_.candidates.push_back(row);
    }
    Track& winner = tracks_[report_.winner];
    remember(winner);
    for (std::string& note : session_.take_notes()) report_.notes.push_back(std::move(note));
    report_.total_seconds = elapsed();
    return Optimized{std::move(report_), program_, winner.proposal.graph,
                     std::move(winner.built->program), std::move(winner.built->executable)};
  }

  void remember(const Track& winner) {
    if (!options_.use_records || report_.is_from_store || report_.stop != Stop::Complete) return;
    tune::RecordStore* store = session_.records();
    if (store == nullptr) return;
    tune::Record record;
    record.program = ir::print(*winner.proposal.graph);
    record.program_hash = winner.proposal.graph->hash;
    record.plan = winner.proposal.plan;
    record.verdict = verify::to_string(winner.report.verdict);
    record.time_us = winner.measured->timing().median_us;
    record.baseline_us = tracks_[0].measured->timing().median_us;
    const Result<void> saved = store->save(key_, program_->name, record);
    if (!saved) report_.notes.push_back(saved.error().message);
  }

  const ir::GraphPtr& program_;
  const OptimizeOptions& options_;
  Session& session_;
  const Clock::time_point start_ = Clock::now();
  BuildOptions build_;
  int threads_ = 1;
  tune::RecordKey key_;
  std::vector<Track> tracks_;
  Error baseline_error_;
  std::optional<tune::Suite> suite_;
  Report report_;
};

}  // namespace

Result<Optimized> optimize(const ir::GraphPtr& program, const OptimizeOptions& options,
                           Session& session) {
  if (program->level != ir::Level::Kernel)
    return bad_input("optimize wants a kernel-level program, found a {} graph",
                     ir::name_of(program->level));
  return Run(program, options, session)();
}

Result<Optimized> optimize(const ir::GraphPtr& program, const OptimizeOptions& options) {
  Session session;
  return optimize(program, options, session);
}

}  // namespace mirage::optimize
