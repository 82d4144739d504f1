// A fixed sample of the counts of bench/verify_mutants.

#include <gtest/gtest.h>

#include "ir/text.h"
#include "property/judge.h"
#include "property/mutant_programs.h"

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

}  // namespace
}  // namespace mirage::testing
