#include "report/report.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

namespace mirage::report {
namespace {

using optimize::CandidateReport;
using optimize::Report;
using testing::HasSubstr;

verify::Verdict proved(verify::Method method) {
  verify::Verdict verdict;
  verdict.answer = verify::Answer::Equivalent;
  verdict.method = method;
  verdict.all_sizes = true;
  if (method == verify::Method::Field) {
    verdict.trials = 2;
    verdict.log2_error_bound = -83;
  }
  return verdict;
}

CandidateReport row(int number, int round, double us, double of_fastest) {
  CandidateReport row;
  row.number = number;
  row.plan = number == 0 ? "the program as written, operator by operator"
                         : "one kernel: softmax folded into the second product";
  if (number > 0) row.schedule = fmt::format("grid h 2, grid m {}, loop n 64", 4 * number);
  row.graph = {0, static_cast<uint64_t>(number)};
  row.verdict = proved(number == 0 ? verify::Method::Identical : verify::Method::Field);
  row.predicted_us = number * 1000.0;
  row.is_timed = round > 0;
  row.round = round;
  row.of_fastest = of_fastest;
  row.timing = {us, 0.9 * us, 1.2 * us, 0.98 * us, 1.03 * us, 9};
  row.deviation = {2.5e-7, 0.031, 65536, 65000, 0};
  row.checked_cases = 9;
  return row;
}

/// A run with five timed candidates in three rounds, and one of each kind of loss.
Report attention() {
  Report report;
  report.program = "attention";
  report.program_hash = {1, 0x0123456789abcdef};
  report.target = "cpu-avx512";
  report.machine = "Example Processor 9000 with a rather long name @ 2.10GHz, 2 cores";
  report.compiler = "g++ 12";
  report.version = "0.1";
  report.threads = 2;
  report.seed = 7;
  report.values = 60, report.structures = 5, report.schedules = 40;
  report.verified = 6, report.built = 6, report.checked = 5, report.timed = 5;
  report.rejected = {
      {optimize::Stage::Search, "values that are part of no output", 31, ""},
      {optimize::Stage::Verify, "different", 1,
       "not equivalent: output 0 differs at entry 17, which is a message of some length here"},
      {optimize::Stage::Check, "timeout", 1, "ran longer than 900 ms"}};
  report.stage_seconds = {{"build", 3.2}, {"measure", 1.25}, {"search", 0.001}};
  report.total_seconds = 4.6;
  report.candidates = {row(0, 3, 5100, 1.4912), row(1, 3, 3420, 1),      row(2, 2, 3380, 1.0243),
                       row(3, 1, 3340, 1.15),   row(4, 3, 3500, 1.0234), row(5, 0, 0, 0),
                       row(6, 0, 0, 0)};
  report.candidates[5].lost = "verify: not equivalent";
  report.candidates[6].lost = "check: ran longer than 900 ms";
  report.rounds = {{5, 40, 2900}, {4, 5, 3300}, {3, 9, 3420}};
  report.winner = 1;
  report.check_families = {"ordinary", "large", "equal"};
  report.spot_checks = 64;
  report.notes = {
      "a note that is long enough that it has to be broken into lines of which none is "
      "wider than the page"};
  return report;
}

TEST(Report, Text) {
  EXPECT_EQ(to_text(attention()), R"(attention  000000000000
  cpu-avx512 on Example Processor 9000 with a rather long name @ 2.10GHz, 2 c...

  funnel
         60  values     from which the outputs can be computed
          5  structures fused kernels, before tile sizes
         40  schedules  with tile sizes, ranked by the cost model
          6  verified   proven equivalent to the program
          6  built      lowered and compiled
          5  checked    agree with float64
          5  timed      in the rounds below

  candidates under their last round; x: times the fastest of that round
    round 3, the final: 3 in turns, 9 samples or more, the fastest 3.42 ms
  *   1  3.42 ms    1.00x ###########.....  grid h 2, grid m 4, loop n 64
      4  3.50 ms    1.02x ###########.....  grid h 2, grid m 16, loop n 64
      0  5.10 ms    1.49x ################  the program as written, operato...
    round 2: 4 in turns, 5 samples or more, the fastest 3.30 ms
      2  3.38 ms    1.02x ###########.....  grid h 2, grid m 8, loop n 64
    round 1: 5 one by one, 40 samples or more, the fastest 2.90 ms
      3  3.34 ms    1.15x ############....  grid h 2, grid m 12, loop n 64

  winner
    one kernel: softmax folded into the second product
    grid h 2, grid m 4, loop n 64
    time     3.42 ms (10 % to 90 %: 3.08 ms to 4.10 ms, 9 samples)
    model    predicted 1.00 ms, 0.29 of the time measured
    speed    1.49 times as fast as the program as written (5.10 ms)
    verdict  equivalent for all sizes (field, 2 trials, error at most 2^-83)
    check    within 0.031 of the float64 error bound, largest difference
             2.5e-07, on inputs: ordinary, large, equal

  rejected
         31  search   values that are part of no output
          1  verify   different
             not equivalent: output 0 differs at entry 17, which is a message...
          1  check    timeout
             ran longer than 900 ms
  notes
    a note that is long enough that it has to be broken into lines of which none
    is wider than the page
  seconds  build 3.20, measure 1.25, all 4.60
)");
}

TEST(Report, TheProgramAsWrittenMayWin) {
  Report report = attention();
  report.winner = 0;
  report.candidates[1] = row(1, 3, 5080, 1);
  report.candidates[4] = row(4, 3, 5300, 1.04);
  report.candidates[1].lost = "only 0.4 % faster than the program as written";
  EXPECT_THAT(to_text(report),
              HasSubstr("candidate 1 was only 0.4 % faster than the program as written: too "));
  report.candidates[1] = row(1, 3, 5200, 1.02);
  EXPECT_THAT(to_text(report), HasSubstr("nothing was faster than the program as written"));
}

TEST(Report, WhatWasSkippedIsSaidAndAnUncheckedProgramIsCalledOne) {
  Report report = attention();
  report.skipped = {{optimize::Stage::Check, "no check on inputs: zeros, subnormal"}};
  EXPECT_THAT(to_text(report), HasSubstr("  skipped for lack of time\n"
                                         "    check    no check on inputs: zeros, subnormal\n"));
  report.candidates = {row(0, 0, 0, 0)};
  report.rounds.clear();
  report.winner = 0;
  EXPECT_THAT(to_text(report), HasSubstr("NOT CHECKED"));
  EXPECT_THAT(to_text(report), testing::Not(HasSubstr("faster")));
  const auto found = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(found["is_checked"], false);
  EXPECT_TRUE(found["winner_us"].is_null());
  EXPECT_TRUE(found["speed_up"].is_null());
  EXPECT_EQ(found["skipped"][0]["stage"], "check");
}

// A bound wider than the values claims nothing, however small a part of it was used.
TEST(Report, AWeakCheckIsCalledOne) {
  Report report = attention();
  EXPECT_THAT(to_text(report), testing::Not(HasSubstr("WEAK")));
  report.candidates[1].deviation.compared = 100;
  report.candidates[1].deviation.sharp = 7;
  report.candidates[1].deviation.without_bound = 65436;
  EXPECT_THAT(to_text(report), HasSubstr("WEAK     on ordinary inputs only 7 of 65536 entries"));
}

size_t widest(const std::string& text) {
  std::istringstream lines(text);
  size_t width = 0;
  for (std::string line; std::getline(lines, line);) width = std::max(width, line.size());
  return width;
}

// Structures may have the same axes and trips; what they compute then differs.
TEST(Report, RowsThatLookTheSameAreToldApart) {
  Report report = attention();
  for (const size_t i : {1, 2, 4}) report.candidates[i].schedule = "grid h 2";
  report.candidates[2].plan = "one kernel: softmax kept apart";
  report.candidates[4].plan = report.candidates[1].plan;
  report.candidates[4].graph = {0xabcdef0123456789, 0};
  const std::string text = to_text(report);
  EXPECT_THAT(text, HasSubstr("grid h 2\n         graph abcdef012345\n"));
  EXPECT_THAT(text, HasSubstr("grid h 2\n         ... kept apart\n"));
  report.candidates[4].plan =
      "one kernel: softmax in two parts, of which this line has no room "
      "for the second one";
  EXPECT_THAT(to_text(report), HasSubstr("         ... folded into the second product\n"));
  EXPECT_LE(widest(to_text(report)), 80u);
  // A long schedule is cut before what differs.
  report.candidates[1].schedule = "grid head 2, grid row 4, grid column 16, loop k 8";
  report.candidates[2].schedule = "grid head 2, grid row 4, grid column 16, loop k 4";
  EXPECT_THAT(to_text(report), HasSubstr("         ... 8; one kernel: softmax folded"));
}

TEST(Report, EightyColumns) {
  Report report = attention();
  EXPECT_LE(widest(to_text(report)), 80u);
  report.program = "p";
  for (CandidateReport& row : report.candidates) {
    row.number = 99999;
    row.timing.median_us = 9.99e9;
    row.of_fastest = 123.456;
    row.plan = row.schedule = std::string(300, 'x');
  }
  report.candidates[1].plan = "many words " + report.candidates[1].plan.substr(0, 60);
  report.candidates[1].schedule = "grid " + std::string(60, 'y');
  report.rounds = {{1000, 200, 9.99e9}, {1000, 200, 9.99e9}, {1000, 200, 9.99e9}};
  EXPECT_LE(widest(to_text(report)), 80u);
}

TEST(Report, Json) {
  Report report = attention();
  report.notes.push_back("no text: \xff");
  const auto found = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(found["schema"], "mirage/optimize/1");
  EXPECT_EQ(found["funnel"]["built"], 6);
  EXPECT_EQ(found["winner_us"], 3420);
  EXPECT_EQ(found["baseline_us"], 5100);
  EXPECT_NEAR(found["speed_up"].get<double>(), 5100 / 3420.0, 1e-12);
  EXPECT_EQ(found["ranking"], nlohmann::json({1, 4, 0, 2, 3}));
  EXPECT_EQ(found["rounds"][1]["candidates"], 4);
  EXPECT_EQ(found["rounds"][1]["fastest_us"], 3300);
  const nlohmann::json& row = found["candidates"][2];
  EXPECT_EQ(row["timing"]["round"], 2);
  EXPECT_EQ(row["timing"]["of_fastest"], 1.0243);
  EXPECT_EQ(row["timing"]["samples"], 9);
  EXPECT_EQ(row["check"]["cases"], 9);
  EXPECT_EQ(row["verdict"]["method"], "field");
  EXPECT_FALSE(found["candidates"][5].contains("timing"));
  EXPECT_EQ(found["candidates"][5]["lost"], "verify: not equivalent");
  EXPECT_EQ(found["rejected"][2]["count"], 1);
}

TEST(Report, RowsOfEarlierRoundsStandBelowTheFinal) {
  const Report report = attention();
  EXPECT_THAT(optimize::ranking(report), testing::ElementsAre(1, 4, 0, 2, 3));
}

}  // namespace
}  // namespace mirage::report
