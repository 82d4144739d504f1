// Whole runs: what is counted, remembered and said where something fails or time is short.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/cpu/find_compiler.h"
#include "unit/optimize/support.h"

namespace mirage::optimize {
namespace {

using testing::HasSubstr;

class Funnel : public Folder {
 protected:
  Result<Optimized> run(const OptimizeOptions& options, const std::string& compiler = {}) {
    ::setenv("MIRAGE_RECORDS", (path_ + "/records.sqlite").c_str(), 1);
    SessionOptions session_options = session_options_of(compiler);
    Session session(session_options);
    return optimize(program_, options, session);
  }
  SessionOptions session_options_of(const std::string& compiler) const {
    SessionOptions options = session_options();
    options.compiler = compiler;
    return options;
  }

  /// A compiler that does `otherwise` with fused kernels: with every program but the one as
  /// written.
  std::string compiler_that(const std::string& otherwise) const {
    return write("compiler",
                 "#!/bin/bash\ncase \"${@: -1}\" in\n*.cc) if grep -q 'kernel k0_block' " +
                     std::string("\"${@: -1}\"; then ") + otherwise + "; fi ;;\nesac\nexec " +
                     runtime::find_compiler()->name() + " \"$@\"\n");
  }

  const ir::GraphPtr program_ = attention();
};

int64_t count_of(const Report& report, Stage stage, std::string_view reason) {
  for (const Rejected& rejected : report.rejected)
    if (rejected.stage == stage && rejected.reason == reason) return rejected.count;
  return 0;
}

/// Candidates proposed by the search: neither the program as written nor its twin.
std::vector<CandidateReport> proposed(const Report& report) {
  std::vector<CandidateReport> rows;
  for (const CandidateReport& row : report.candidates)
    if (row.graph != report.program_hash) rows.push_back(row);
  return rows;
}

bool skips(const Report& report, Stage stage) {
  return std::any_of(report.skipped.begin(), report.skipped.end(),
                     [&](const Skipped& skipped) { return skipped.stage == stage; });
}

/// Softmax of equal rows is their mean: with v all 3 the output is 3.
void expect_right(const runtime::Executable& executable) {
  std::vector<float> q(32 * 16, 0.5F), k(16 * 64, 0.25F), v(64 * 16, 3), o(32 * 16, -1);
  const auto view = [](std::vector<float>& data, int64_t rows, int64_t cols) {
    return runtime::TensorView{data.data(), ir::DType::F32, {rows, cols}, {cols, 1}};
  };
  const std::vector<runtime::TensorView> in = {view(q, 32, 16), view(k, 16, 64), view(v, 64, 16)};
  const std::vector<runtime::TensorView> out = {view(o, 32, 16)};
  const Result<void> ran = executable.run(in, out, 1);
  ASSERT_TRUE(ran) << ran.error().message;
  for (float value : o) EXPECT_NEAR(value, 3, 1e-4);
}

TEST_F(Funnel, EveryStageIsCounted) {
  const Result<Optimized> result = run(quick());
  ASSERT_TRUE(result) << result.error().message;
  const Report& report = result->report;
  EXPECT_GT(report.values, 0);
  EXPECT_GT(report.structures, 0);
  EXPECT_GT(report.schedules, report.structures);
  EXPECT_EQ(proposed(report).size(), 2u);
  const auto rows = static_cast<int64_t>(report.candidates.size());
  int64_t losses = 0;
  for (const Rejected& rejected : report.rejected)
    if (rejected.stage != Stage::Search) losses += rejected.count;
  EXPECT_EQ(report.timed + losses, rows);
  EXPECT_LE(report.built, report.verified);
  EXPECT_LE(report.checked, report.built);
  EXPECT_EQ(report.checked, report.timed);
  const auto timed = std::count_if(report.candidates.begin(), report.candidates.end(),
                                   [](const CandidateReport& row) { return row.is_timed; });
  EXPECT_EQ(timed, report.timed);
  for (const CandidateReport& row : report.candidates)
    EXPECT_EQ(row.lost.empty(), &row == &report.best()) << row.number;
  EXPECT_TRUE(report.skipped.empty());
  EXPECT_EQ(report.stop, Stop::Complete);
  EXPECT_TRUE(report.is_checked());
  expect_right(*result->executable);
}

TEST_F(Funnel, TheSecondRunComesFromTheStore) {
  const Result<Optimized> first = run(quick());
  ASSERT_TRUE(first);
  const Result<Optimized> second = run(quick());
  ASSERT_TRUE(second);
  EXPECT_FALSE(first->report.is_from_store);
  EXPECT_TRUE(second->report.is_from_store);
  EXPECT_TRUE(second->report.is_checked());
  EXPECT_EQ(second->report.schedules, 0);
  EXPECT_LE(proposed(second->report).size(), 1u);
  OptimizeOptions other = quick();
  other.top = 1;
  EXPECT_FALSE(run(other)->report.is_from_store);
}

TEST_F(Funnel, NoTimeAtAllStillGivesTheProgram) {
  OptimizeOptions options = quick();
  options.time_limit_seconds = 0;
  const Result<Optimized> result = run(options);
  ASSERT_TRUE(result) << result.error().message;
  const Report& report = result->report;
  EXPECT_EQ(report.winner, 0u);
  EXPECT_FALSE(report.is_checked());
  EXPECT_TRUE(std::isnan(report.speed_up()));
  EXPECT_EQ(report.checked, 0);
  EXPECT_EQ(report.stop, Stop::TimeLimit);
  EXPECT_TRUE(skips(report, Stage::Compile));
  EXPECT_TRUE(skips(report, Stage::Check));
  EXPECT_EQ(result->winner->hash, program_->hash);
  expect_right(*result->executable);
  // What was not checked is not remembered.
  EXPECT_FALSE(run(options)->report.is_from_store);
}

TEST_F(Funnel, ACancelledRunGivesTheProgram) {
  const std::atomic<bool> cancel = true;
  OptimizeOptions options = quick();
  options.cancel = &cancel;
  const Result<Optimized> result = run(options);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->report.stop, Stop::Cancelled);
  EXPECT_FALSE(result->report.is_checked());
  expect_right(*result->executable);
}

TEST_F(Funnel, CancellingStopsTheCompiler) {
  std::atomic<bool> cancel = false;
  OptimizeOptions options = quick();
  options.cancel = &cancel;
  options.progress = [&](const Progress& progress) {
    if (progress.stage == "build") cancel = true;
  };
  const std::string hangs = write("hangs", "#!/bin/sh\n[ \"$1\" = --version ] || sleep 1000\n");
  const Result<Optimized> result = run(options, hangs);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->report.stop, Stop::Cancelled);
  EXPECT_EQ(result->report.built, 0);
}

TEST_F(Funnel, RefusedCandidatesAreCountedAndNotFatal) {
  for (const char* otherwise : {"exit 3", "kill -SEGV $$"}) {
    OptimizeOptions options = quick();
    options.use_records = false;
    const Result<Optimized> result = run(options, compiler_that(otherwise));
    ASSERT_TRUE(result) << result.error().message;
    const Report& report = result->report;
    EXPECT_TRUE(report.is_checked());
    const std::vector<CandidateReport> rows = proposed(report);
    EXPECT_FALSE(rows.empty());
    EXPECT_EQ(count_of(report, Stage::Compile, name_of(Code::CompileFailed)),
              static_cast<int64_t>(rows.size()));
    for (const CandidateReport& row : rows) EXPECT_THAT(row.lost, HasSubstr("refused generated"));
  }
}

TEST_F(Funnel, OneThatCrashesOrHangsIsCountedAndTheOthersGoOn) {
  struct Row {
    const char* statement;  // at the beginning of the first fused program that is compiled
    Code code;
    const char* lost;
  };
  const Row rows[] = {{"*(volatile int*)nullptr = 1;", Code::RunFailed, "crashed with signal 11"},
                      {"__builtin_trap();", Code::RunFailed, "crashed with signal"},
                      {"std::_Exit(0);", Code::RunFailed, "exited with status 0 before"},
                      {"for (volatile int i = 0;;) i = 1;", Code::Timeout, "ran longer than"}};
  for (const Row& row : rows) {
    for (const char* left : {"/first", "/objects"}) std::filesystem::remove_all(path_ + left);
    // Only one process can make the folder.
    const std::string compiler =
        compiler_that("mkdir " + path_ + "/first 2>/dev/null && sed -i '/void mirage_run(/s/{$/{ " +
                      row.statement + "/' \"${@: -1}\"");
    OptimizeOptions options = quick();
    options.use_records = false;
    options.top = 3;
    const Result<Optimized> result = run(options, compiler);
    ASSERT_TRUE(result) << result.error().message;
    const Report& report = result->report;
    EXPECT_TRUE(report.is_checked());
    EXPECT_EQ(count_of(report, Stage::Check, name_of(row.code)), 1) << row.statement;
    const std::vector<CandidateReport> others = proposed(report);
    const auto timed = std::count_if(others.begin(), others.end(),
                                     [](const CandidateReport& other) { return other.is_timed; });
    EXPECT_EQ(timed + 1, static_cast<std::ptrdiff_t>(others.size())) << row.statement;
    EXPECT_GE(timed, 1);
    const auto lost =
        std::count_if(others.begin(), others.end(), [&](const CandidateReport& other) {
          return other.lost.find(row.lost) != std::string::npos && !other.is_timed;
        });
    EXPECT_EQ(lost, 1) << row.statement;
    EXPECT_EQ(report.stop, Stop::Complete) << row.statement;
    expect_right(*result->executable);
  }
}

TEST_F(Funnel, HangingCompilersAreStopped) {
  OptimizeOptions options = quick();
  options.time_limit_seconds = 8;
  const Result<Optimized> result = run(options, compiler_that("sleep 1000"));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->report.stop, Stop::TimeLimit);
  EXPECT_EQ(result->winner->hash, program_->hash);
  EXPECT_TRUE(skips(result->report, Stage::Compile));
  for (const CandidateReport& row : proposed(result->report))
    EXPECT_EQ(row.lost, "no time to build it");
}

TEST_F(Funnel, AProgramThatDoesNotCompileIsNamed) {
  const std::string fails =
      write("fails",
            "#!/bin/bash\ncase \"${@: -1}\" in --version|/dev/null) exit 0 ;; esac\n"
            "echo no such luck; exit 1\n");
  const Result<Optimized> result = run(quick(), fails);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::CompileFailed);
  EXPECT_THAT(result.error().message, HasSubstr("the program as written: "));
  ASSERT_EQ(result.error().notes.size(), 1u);
  EXPECT_EQ(result.error().notes[0], "no such luck\n");
}

TEST_F(Funnel, ACompilerThatNeverWorksIsNotTheProgramsFault) {
  const std::string fails =
      write("fails", "#!/bin/sh\n[ \"$1\" = --version ] || { echo no such luck; exit 1; }\n");
  const Result<Optimized> result = run(quick(), fails);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::Unsupported);
  EXPECT_THAT(result.error().message, HasSubstr("does not work"));
  EXPECT_THAT(result.error().message, HasSubstr("no such luck"));
}

}  // namespace
}  // namespace mirage::optimize
