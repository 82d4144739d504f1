#include "unit/lower/support.h"

namespace mirage::lower {
namespace {

constexpr std::string_view kNormLinear = R"(
kernel @norm_linear(%x: f32[2,64], %w: f32[64,96]) -> f32[2,96] {
  %y = block(%x, %w) axes(n: grid 3, k: loop 4) {
    %a = load %x [., k]
    %b = load %w [k, n]
    %m = accum sum (matmul %a, %b)
    %q = accum sum (sum (square %a) axis=1)
    %e = extent %x axis=1
    store (div %m, sqrt (div %q, %e)) [., n]
  }
  return %y
})";

TEST(LowerBlock, FusesChainsIntoReductionsAndStores) {
  const auto program = lowered(kNormLinear);
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->launches.size(), 1u);
  const KernelPlan& plan = program->launches[0];
  EXPECT_EQ(plan.items(), 3);
  EXPECT_EQ(plan.loop_steps(), 4);
  // The loop: a product and a reduction, both into their accumulators; no step for the square.
  ASSERT_EQ(plan.loop.size(), 2u) << print(*program);
  EXPECT_TRUE(plan.loop[0].accumulate && plan.loop[1].accumulate);
  EXPECT_EQ(count(plan.loop, StepKind::MatMul), 1);
  // After it: the root, which has another shape than its user, and quotient and store in one.
  EXPECT_EQ(plan.epilogue.size(), 2u) << print(*program);
  EXPECT_EQ(plan.epilogue.back().out[0].space, Space::Param);
}

TEST(LowerBlock, DeadOperatorsVanish) {
  const auto program = lowered(R"(
kernel(%x: f32[8,8]) -> f32[8,8] {
  %y = block(%x) axes(i: grid 2) {
    %a = load %x [i, .]
    %dead = matmul (exp %a), (load %x [., .])
    store %a [i, .]
  }
  return %y
})");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(count(program->launches[0].prologue, StepKind::MatMul), 0);
  EXPECT_EQ(program->launches[0].scratch.size(), 0u);
}

TEST(LowerBlock, RaggedTilesHaveLengths) {
  const auto program = lowered(R"(
kernel(%x: f32[7,5]) -> f32[7,5] {
  %y = block(%x) axes(i: grid 2) {
    store (exp (load %x [i, .])) [i, .] shape=[7,5]
  }
  return %y
})");
  ASSERT_TRUE(program) << program.error().message;
  const KernelPlan& plan = program->launches[0];
  ASSERT_EQ(plan.ragged.size(), 1u);
  EXPECT_EQ(plan.ragged[0].extent, 7);
  EXPECT_EQ(plan.epilogue[0].lengths[0], (Length{4, 0}));
}

TEST(LowerBlock, ShortTilesOfALoopAddToTheFront) {
  const auto program = lowered(R"(
kernel(%x: f32[7,5]) -> f32[4,5] {
  %y = block(%x) axes(i: loop 2) {
    store (accum sum (load %x [i, .])) [., .]
  }
  return %y
})");
  ASSERT_TRUE(program) << program.error().message;
  const KernelPlan& plan = program->launches[0];
  EXPECT_EQ(plan.loop[0].lengths[0], (Length{4, 0}));
  EXPECT_EQ(plan.epilogue[0].lengths[0], Length{4});
}

TEST(LowerBlock, ShortTilesOfGridAndLoopAreUnsupported) {
  const auto program = lowered(R"(
kernel(%x: f32[7,5]) -> f32[7,5] {
  %y = block(%x) axes(g: grid 2, i: loop 2) {
    %s = accum sum (sum (load %x [g/i, .]) axis=0)
    %a = accum sum (load %x [g/i, .])
    store (add (load %x [g, .]), (mul %s, (sum %a axis=0))) [g, .] shape=[7,5]
  }
  return %y
})");
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, Code::Unsupported);
}

TEST(LowerBlock, ClusterAxesAreUnsupported) {
  const auto program = lowered(R"(
kernel(%x: f32[8,5]) -> f32[8,5] {
  %y = block(%x) axes(c: cluster 2) {
    store (load %x [c, .]) [c, .]
  }
  return %y
})");
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message, "block axis c: cluster axes of more than one step");
}

}  // namespace
}  // namespace mirage::lower
