// Every kernel of every example for sm_90 on the CPU: as written, and the best fused kernels that
// the search sizes for the target, at small shapes, even and odd ones.

#include <fmt/ranges.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "device/host/support.h"
#include "optimize/proposals.h"

namespace mirage::host_kit {
namespace {

namespace fs = std::filesystem;

using Extents = std::map<std::string, std::string>;

const Extents kEven{{"4096", "256"}, {"6144", "384"}, {"2048", "192"},
                    {"2560", "160"}, {"1024", "32"},  {"256", "32"}};
const Extents kOdd{{"4096", "250"}, {"6144", "331"}, {"2048", "190"},
                   {"2560", "150"}, {"1024", "33"},  {"256", "31"}};

/// The program with other extents, two of each batch, in another type.
std::string shrunk(const std::string& text, const Extents& extents, const std::string& type) {
  const std::regex number("\\b\\d{3,4}\\b");
  std::string result;
  auto rest = text.begin();
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it) {
    result.append(rest, it->operator[](0).first);
    const auto found = extents.find(it->str());
    result += found == extents.end() ? it->str() : found->second;
    rest = it->operator[](0).second;
  }
  result.append(rest, text.end());
  result = std::regex_replace(result, std::regex("\\[\\d+,(\\d+),(\\d+)\\]"), "[2,$1,$2]");
  return std::regex_replace(result, std::regex("f32\\["), type + "[");
}

std::string read(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Kernels that ran, by their form.
using Forms = std::map<std::string, int>;

std::string_view form_of(const lower::KernelPlan& plan) {
  if (plan.pipeline) return plan.pipeline->blocks > 1 ? "loop of a cluster" : "loop";
  if (plan.rows) return plan.rows->cluster > 1 ? "rows of a cluster" : "rows";
  return "steps";
}

struct Variant {
  std::string type;
  const Extents& extents;
  bool as_written;
  size_t proposals;
};

class HostKit : public testing::Test {
 protected:
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }

  void expect_right(const ir::GraphPtr& graph, const tune::Suite& suite, const std::string& what) {
    const auto program = lower::lower(graph, *lower::target_named("sm_90"));
    ASSERT_TRUE(program) << what << ": " << program.error().message;
    const auto unit = codegen::emit(*program);
    if (!unit && unit.error().code == Code::LimitExceeded) return;  // said before it is run
    ASSERT_TRUE(unit) << what << ": " << unit.error().message;
    const auto done = run(*unit, suite, 1, cache_.options());
    EXPECT_TRUE(done) << what << ": " << words_of(done.error()) << '\n' << unit->text;
    for (const lower::KernelPlan& plan : program->launches) ++forms_[std::string(form_of(plan))];
  }

  void run_examples(const Variant& wanted) {
    std::set<std::string> seen;
    for (const auto& entry : fs::directory_iterator(MIRAGE_SOURCE_DIR "/examples")) {
      if (entry.path().extension() != ".mu") continue;
      const std::string text = shrunk(read(entry.path()), wanted.extents, wanted.type);
      // Examples that differ in their batch alone are the same program now.
      if (!seen.insert(text.substr(text.find('('))).second) continue;
      SCOPED_TRACE(entry.path().filename().string());
      const ir::GraphPtr graph = parsed(text);
      ASSERT_NE(graph, nullptr);
      const auto suite = suite_of(graph);
      ASSERT_TRUE(suite) << suite.error().message;
      if (wanted.as_written) expect_right(graph, *suite, "as written");
      auto found = search::search(*graph, {});
      ASSERT_TRUE(found) << found.error().message;
      optimize::Proposals proposals(std::move(found->structures),
                                    optimize::limits_of(*lower::target_named("sm_90"), 1));
      for (const optimize::Proposal& proposal : proposals.first_wave(wanted.proposals))
        expect_right(proposal.graph, *suite, proposal.plan + " (" + proposal.schedule + ")");
    }
    EXPECT_GE(seen.size(), 17u);
    for (const auto& [form, count] : forms_) std::printf("%d kernels: %s\n", count, form.c_str());
  }

  Forms forms_;

 private:
  Cache cache_;
};

TEST_F(HostKit, ExamplesInHalfPrecision) {
  run_examples({"f16", kEven, true, 3});
  for (const char* form : {"loop", "loop of a cluster", "rows", "steps"})
    EXPECT_GT(forms_[form], 0) << form;
}

TEST_F(HostKit, ExamplesWithOddExtents) { run_examples({"bf16", kOdd, true, 1}); }

TEST_F(HostKit, ExamplesInSinglePrecision) { run_examples({"f32", kEven, false, 1}); }

}  // namespace
}  // namespace mirage::host_kit
