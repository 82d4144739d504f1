#pragma once
// What every build of one program is checked on: inputs of several families with their float64
// references. Made once, shared by all candidates.

#include <string>
#include <vector>

#include "ir/graph.h"
#include "tune/inputs.h"
#include "tune/reference.h"
#include "util/result.h"

namespace mirage::tune {

struct TestCase {
  Family family = Family::Ordinary;
  std::vector<HostTensor> inputs;
  std::vector<ReferenceOutput> reference;
};

struct Suite {
  ir::GraphPtr program;         // the user's
  std::vector<TestCase> cases;  // Ordinary first
  int64_t spot_checks = 0;      // reference entries that the interpreter confirmed
  std::vector<Family> skipped;  // families without a case: no time
  std::vector<std::string> notes;
};

struct SuiteOptions {
  uint64_t seed = 1;
  int threads = 1;
  /// Families after the first are left out once this is spent.
  double time_limit_seconds = 8;
  /// What is not done by then is left out: Timeout if that is the first family.
  Deadline deadline{};
  int64_t spot_checks = 64;
  uint64_t spot_work_limit = 30'000'000;
};

/// `safe` is the program with its exponentials shifted (lower/gauge.h); it may be the same graph.
/// For programs with block operators the reference is that of the interpreter, entry by entry.
/// Internal if reference and interpreter disagree: one of them is wrong, and nothing can be
/// checked.
Result<Suite> make_suite(ir::GraphPtr program, const ir::Graph& safe, const SuiteOptions& options);

}  // namespace mirage::tune
