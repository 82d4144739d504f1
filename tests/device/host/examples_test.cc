// Every kernel of every example for sm_90 on the CPU: as written, and the best fused kernels that
// the search sizes for the target, at small shapes, even and odd ones.

#include <fmt/ranges.h>

#include <map>
#include <regex>
#include <set>

#include "device/host/programs.h"
#include "device/host/support.h"
#include "optimize/proposals.h"

namespace mirage::host_kit {
namespace {

namespace fs = std::filesystem;

using Extents = std::map<std::string, std::string>;

const Extents kEven{{"4096", "128"}, {"6144", "192"}, {"2048", "128"},
                    {"2560", "96"},  {"1024", "32"},  {"256", "32"}};
const Extents kOdd{{"4096", "127"}, {"6144", "65"}, {"2048", "33"},
                   {"2560", "17"},  {"1024", "15"}, {"256", "7"}};

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

/// Kernels that ran, by their form.
using Forms = std::map<std::string, int>;

struct Variant {
  lower::Target target;
  std::string type;
  const Extents& extents;
  bool as_written;
  size_t proposals;
};

class HostKit : public testing::Test {
 protected:
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }

  struct Candidate {
    std::string what;
    codegen::SourceUnit unit;
    std::vector<std::string> forms;
  };

  /// Nothing if a block has not the memory that it needs, which is said before it is run.
  static std::optional<Candidate> candidate(const ir::GraphPtr& graph, const lower::Target& target,
                                            const std::string& what) {
    const auto program = lower::lower(graph, target);
    EXPECT_TRUE(program) << what << ": " << program.error().message;
    if (!program) return {};
    auto unit = codegen::emit(*program);
    EXPECT_TRUE(unit || unit.error().code == Code::LimitExceeded) << unit.error().message;
    if (!unit) return {};
    Candidate made{what, std::move(*unit), {}};
    for (const lower::KernelPlan& plan : program->launches) made.forms.emplace_back(form_of(plan));
    return made;
  }

  /// The example as written, if wanted, and the best of the search for this target.
  static std::vector<Candidate> candidates(const ir::GraphPtr& graph, const Variant& wanted) {
    std::vector<std::optional<Candidate>> all;
    if (wanted.as_written) all.push_back(candidate(graph, wanted.target, "as written"));
    auto found = search::search(*graph, {});
    EXPECT_TRUE(found) << found.error().message;
    if (!found) return {};
    optimize::Proposals proposals(std::move(found->structures),
                                  optimize::limits_of(wanted.target, 1));
    for (const optimize::Proposal& proposal : proposals.first_wave(wanted.proposals))
      all.push_back(
          candidate(proposal.graph, wanted.target, proposal.plan + " (" + proposal.schedule + ")"));
    std::vector<Candidate> made;
    for (std::optional<Candidate>& one : all)
      if (one) made.push_back(std::move(*one));
    return made;
  }

  void expect_right(const std::vector<Candidate>& candidates, const tune::Suite& suite) {
    std::vector<codegen::SourceUnit> units;
    for (const Candidate& one : candidates) units.push_back(one.unit);
    const std::vector<Loaded> loaded = load(units, cache_.options());
    for (size_t i = 0; i < candidates.size(); ++i) {
      ASSERT_TRUE(loaded[i]) << candidates[i].what << ": " << words_of(loaded[i].error());
      const auto done = run(**loaded[i], suite, 1);
      EXPECT_TRUE(done) << candidates[i].what << ": " << done.error().message << '\n'
                        << units[i].text;
      for (const std::string& form : candidates[i].forms) ++forms_[form];
    }
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
      expect_right(candidates(graph, wanted), *suite);
    }
    EXPECT_GE(seen.size(), 17u);
    for (const auto& [form, count] : forms_) std::printf("%d kernels: %s\n", count, form.c_str());
  }

  Forms forms_;

 private:
  Cache cache_;
};

TEST_F(HostKit, ExamplesInHalfPrecision) {
  run_examples({gpu(16), "f16", kEven, true, 4});
  for (const char* form : {"loop", "rows", "steps"}) EXPECT_GT(forms_[form], 0) << form;
}

TEST_F(HostKit, ExamplesWithOddExtents) { run_examples({gpu(132), "bf16", kOdd, true, 2}); }

TEST_F(HostKit, ExamplesInSinglePrecision) { run_examples({gpu(132), "f32", kEven, false, 2}); }

}  // namespace
}  // namespace mirage::host_kit
