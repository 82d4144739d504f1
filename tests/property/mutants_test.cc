// A fixed sample of the counts of bench/verify_mutants.

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/text.h"
#include "property/judge.h"
#include "property/mutant_programs.h"
#include "property/published_bases.h"

namespace mirage::testing {
namespace {

class Mutants : public ::testing::TestWithParam<MutantProgram> {};

TEST_P(Mutants, WrongOnesAreNotAcceptedAndRewritesNotRejected) {
  const MutantProgram& program = GetParam();
  const ir::GraphPtr reference = ir::parse(program.reference).value()[0];
  const ir::GraphPtr fused =
      program.candidate ? ir::parse(program.candidate).value()[0] : reference;
  Tally tally;
  std::vector<Changed> changes = mutants(*reference);
  for (Changed& changed : mutants(*fused)) changes.push_back(std::move(changed));
  ASSERT_GE(changes.size(), 10u);
  for (size_t i = 0; i < changes.size(); i += 3) judge(*reference, changes[i], {}, tally);
  for (const std::string& text : tally.wrong) ADD_FAILURE() << text;
  EXPECT_GE(tally.separated, 3);
  constexpr uint64_t kSeed = 20;
  Rng rng(kSeed);
  Tally laws;
  for (int i = 0; i < 12; ++i) {
    const Changed changed = rewritten(fused, rng, 1 + i % 3);
    if (changed.graph) judge(*reference, changed, {}, laws);
  }
  for (const std::string& text : laws.wrong) ADD_FAILURE() << text << ", seed " << kSeed;
  EXPECT_EQ(laws.separated, 0) << "a rewrite changes the function, seed " << kSeed;
  for (const std::string& text : laws.undecided) ADD_FAILURE() << text << ", seed " << kSeed;
}

INSTANTIATE_TEST_SUITE_P(All, Mutants, ::testing::ValuesIn(mutant_programs()),
                         [](const auto& row) { return std::string(row.param.name); });

class Examples : public ::testing::TestWithParam<std::string> {};

// Rewrites of every program of examples/ are equivalent, and a bound is claimed.
TEST_P(Examples, RewritesHaveABound) {
  const auto program = ir::load_graph(MIRAGE_SOURCE_DIR "/examples/" + GetParam() + ".mu");
  ASSERT_TRUE(program) << program.error().message;
  constexpr uint64_t kSeed = 22;
  Rng rng(kSeed);
  for (int i = 0; i < 4; ++i) {
    const Changed changed = rewritten(*program, rng, 1 + i);
    if (!changed.graph) continue;
    const auto verdict = verify::verify(**program, *changed.graph);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_TRUE(verdict->is_equivalent() && verdict->log2_error_bound <= -50)
        << changed.what << ": " << to_string(*verdict) << ", seed " << kSeed;
  }
}

std::vector<std::string> examples() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(MIRAGE_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".mu") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, Examples, ::testing::ValuesIn(examples()),
                         [](const auto& row) { return row.param; });

class PublishedMutants : public ::testing::TestWithParam<PublishedFile> {};

// Two graphs of each file, some mutants and rewrites of each.
TEST_P(PublishedMutants, WrongOnesAreNotAcceptedAndRewritesNotRejected) {
  const PublishedFile& published = GetParam();
  const std::string path = published_path(published);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path << "; set MIRAGE_SHARED";
  const auto program = published_program(published);
  const auto graphs = ir::load_graphs(path, ir::Epoch::Old);
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_TRUE(graphs) << graphs.error().message;
  constexpr uint64_t kSeed = 21;
  Rng rng(kSeed);
  Tally tally, laws;
  for (int k = 0; k < 2; ++k) {
    const ir::GraphPtr base = (*graphs)[rng.below(graphs->size())];
    const std::vector<Changed> changes = mutants(*base);
    ASSERT_FALSE(changes.empty());
    for (int i = 0; i < 12; ++i) judge(**program, changes[rng.below(changes.size())], {}, tally);
    for (int i = 0; i < 5; ++i) {
      const Changed changed = rewritten(base, rng, 1 + i % 3);
      if (changed.graph) judge(**program, changed, {}, laws);
    }
  }
  for (const std::string& text : tally.wrong) ADD_FAILURE() << text << ", seed " << kSeed;
  EXPECT_GE(tally.separated, 3) << "seed " << kSeed;
  for (const std::string& text : laws.wrong) ADD_FAILURE() << text << ", seed " << kSeed;
  for (const std::string& text : laws.undecided) ADD_FAILURE() << text << ", seed " << kSeed;
}

INSTANTIATE_TEST_SUITE_P(All, PublishedMutants, ::testing::ValuesIn(published_files()),
                         [](const auto& row) { return std::string(row.param.file); });

}  // namespace
}  // namespace mirage::testing
