#include <fmt/ranges.h>

#include "lower/gauge.h"
#include "optimize/stages.h"

namespace mirage::optimize {

TestMaker::TestMaker(Run& run) : run_(run) {
  tune::SuiteOptions options;
  options.seed = run.options.seed;
  options.threads = run.threads;
  options.time_limit_seconds = kFamiliesShare * run.options.time_limit_seconds;
  options.deadline = run.end_of(kReferenceEnd).or_when(&is_given_up_);
  suite_ = std::async(std::launch::async, [this, options] { return make(options); });
}

TestMaker::~TestMaker() { is_given_up_ = true; }

Result<tune::Suite> TestMaker::make(const tune::SuiteOptions& options) {
  const double begun = run_.elapsed();
  MIRAGE_TRY(const ir::GraphPtr safe, lower::make_safe(run_.program));
  Result<tune::Suite> suite = tune::make_suite(run_.program, *safe, options);
  seconds_ = run_.elapsed() - begun;
  return suite;
}

Result<void> TestMaker::wait() {
  while (suite_.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready)
    run_.tell("reference", 0, 1);
  Result<tune::Suite> suite = suite_.get();
  Report& report = run_.report;
  report.stage_seconds["reference"] = seconds_;
  if (!suite && suite.error().code == Code::Timeout && run_.end_of(kReferenceEnd).is_over()) {
    run_.skip(Stage::Check, "the float64 reference was not done in time");
    return {};
  }
  if (!suite) return tl::unexpected(suite.error());
  for (const tune::TestCase& test : suite->cases)
    report.check_families.emplace_back(tune::name_of(test.family));
  std::vector<std::string_view> skipped;
  for (tune::Family family : suite->skipped) skipped.push_back(tune::name_of(family));
  if (!skipped.empty())
    run_.skip(Stage::Check, fmt::format("no check on inputs: {}", fmt::join(skipped, ", ")), false);
  report.spot_checks = suite->spot_checks;
  for (const std::string& note : suite->notes) report.notes.push_back(note);
  run_.suite.emplace(std::move(*suite));
  if (tune::GpuWorker* worker = run_.session.gpu_worker()) worker->forget_suite();
  return {};
}

}  // namespace mirage::optimize
