#include "lower/gauge.h"
#include "optimize/stages.h"

namespace mirage::optimize {

Result<void> make_tests(Run& run) {
  const double begun = run.elapsed();
  run.tell("reference", 0, 1);
  MIRAGE_TRY(const ir::GraphPtr safe, lower::make_safe(run.program));
  tune::SuiteOptions options;
  options.seed = run.options.seed;
  options.threads = run.threads;
  options.time_limit_seconds = kReferenceShare * run.options.time_limit_seconds;
  options.is_cancelled = [&run] { return run.is_cancelled(); };
  MIRAGE_TRY(tune::Suite suite, tune::make_suite(run.program, *safe, options));
  run.suite.emplace(std::move(suite));
  for (const tune::TestCase& test : run.suite->cases)
    run.report.check_families.emplace_back(tune::name_of(test.family));
  run.report.spot_checks = run.suite->spot_checks;
  for (const std::string& note : run.suite->notes) run.report.notes.push_back(note);
  run.spend("reference", begun);
  return {};
}

}  // namespace mirage::optimize
