#pragma once
// Programs that are lowered for a GPU, run by the host kit and compared with float64.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <span>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "ir/text.h"
#include "lower/gauge.h"
#include "lower/lower.h"
#include "runtime/emulate/executable.h"
#include "tune/check.h"
#include "tune/suite.h"

namespace mirage::host_kit {

/// Also the seed of the machine. Set MIRAGE_TEST_SEED to see another order.
inline uint64_t seed() {
  const char* const wanted = std::getenv("MIRAGE_TEST_SEED");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 1;
}

/// Compiled objects of this process.
class Cache {
 public:
  Cache() {
    std::string folder = testing::TempDir() + "mirage-host-kit-XXXXXX";
    options_.cache_dir = mkdtemp(folder.data());
  }
  ~Cache() { std::filesystem::remove_all(options_.cache_dir); }
  const runtime::CompileOptions& options() const { return options_; }

 private:
  runtime::CompileOptions options_;
};

inline std::string read(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline ir::GraphPtr parsed(const std::string& text) {
  const auto graphs = ir::parse(text);
  EXPECT_TRUE(graphs) << graphs.error().message << '\n' << text;
  return graphs ? (*graphs)[0] : nullptr;
}

/// How the generator makes a kernel.
inline std::string_view form_of(const lower::KernelPlan& plan) {
  if (plan.pipeline) return plan.pipeline->blocks > 1 ? "loop of a cluster" : "loop";
  if (plan.rows) return plan.rows->cluster > 1 ? "rows of a cluster" : "rows";
  return "steps";
}

inline Result<tune::Suite> suite_of(const ir::GraphPtr& graph) {
  MIRAGE_TRY(const ir::GraphPtr safe, lower::make_safe(graph));
  tune::SuiteOptions options;
  options.seed = seed();
  options.time_limit_seconds = 600;
  return tune::make_suite(graph, *safe, options);
}

/// How far all entries together may be from float64, relative to their size: bounds of single
/// entries are for the worst case, and much wider where sums are long.
inline double most_relative(ir::DType type) {
  switch (type) {
    case ir::DType::BF16:
      return 0.03;
    case ir::DType::F16:
      return 0.005;
    default:
      return 1e-5;
  }
}

/// What the run says first: a fault of the machine, a value beyond its bound, or all of them being
/// too far from float64.
inline Result<void> run(const runtime::Executable& executable, const tune::Suite& suite,
                        size_t most_cases) {
  for (size_t i = 0; i < std::min(most_cases, suite.cases.size()); ++i) {
    const tune::TestCase& test = suite.cases[i];
    MIRAGE_TRY(const tune::Deviation deviation,
               tune::run_and_compare(executable, *suite.program, test.inputs, test.reference,
                                     test.family, 1));
    // Large outputs of block programs have a sample of their entries as reference.
    if (deviation.without_bound == 0 &&
        deviation.relative > most_relative(executable.source().outputs[0].dtype))
      return fail(Code::Mismatch, "outputs on {} inputs: off by {:.3g} of their size",
                  tune::name_of(test.family), deviation.relative);
  }
  return {};
}

using Loaded = Result<std::shared_ptr<const runtime::Executable>>;

/// Units in their order, compiled side by side.
inline std::vector<Loaded> load(std::span<const codegen::SourceUnit> units,
                                const runtime::CompileOptions& options) {
  constexpr size_t kAtOnce = 4;
  std::vector<std::future<Loaded>> compiling;
  for (const codegen::SourceUnit& unit : units) {
    if (compiling.size() >= kAtOnce) compiling[compiling.size() - kAtOnce].wait();
    compiling.push_back(std::async(std::launch::async, [&] {
      return runtime::load_emulated(unit, options, {.seed = seed()});
    }));
  }
  std::vector<Loaded> loaded;
  for (std::future<Loaded>& one : compiling) loaded.push_back(one.get());
  return loaded;
}

/// The error with what the compiler said.
inline std::string words_of(const Error& error) {
  return error.notes.empty() ? error.message : error.message + '\n' + error.notes[0];
}

}  // namespace mirage::host_kit
