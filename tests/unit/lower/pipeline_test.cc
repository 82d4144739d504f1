#include "lower/pipeline.h"

#include <algorithm>

#include "unit/lower/support.h"

namespace mirage::lower {
namespace {

Target gpu() { return *target_named("sm_90"); }

KernelPlan plan_of(std::string_view text, const Target& target = gpu()) {
  const auto program = lower(graph_of(text), target);
  EXPECT_TRUE(program) << program.error().message;
  return program ? program->launches.at(0) : KernelPlan{};
}

std::string linear(std::string_view dtype, int columns, int tiles, int steps) {
  return fmt::format(R"(
kernel(%x: {0}[16,512], %w: {0}[512,{1}]) -> {0}[16,{1}] {{
  %y = block(%x, %w) axes(n: grid {2}, k: loop {3}) {{
    %a = load %x [., k]
    %s = accum sum (matmul %a, (load %w [k, n]))
    %q = accum sum (sum (square %a) axis=1)
    store (div %s, (sqrt %q)) [., n]
  }}
  return %y
}})",
                     dtype, columns, tiles, steps);
}

constexpr std::string_view kAttention = R"(
kernel(%q: f16[2,64,64], %k: f16[2,1024,64], %v: f16[2,1024,64]) -> f16[2,64,64] {
  %y = block(%q, %k, %v) axes(b: grid 2, m: grid 2, r: loop 8) {
    %kt = transpose (load %k [b, r, .]) perm=[0,2,1]
    %e = exp (matmul (load %q [b, m, .]), %kt)
    %l = accum sum (sum %e axis=2)
    %o = accum sum (matmul %e, (load %v [b, r, .]))
    store (div %o, %l) [b, m, .]
  }
  return %y
})";

const Register& named(const KernelPlan& plan, std::string_view name) {
  const auto& registers = plan.pipeline->registers;
  const auto at = std::find_if(registers.begin(), registers.end(), [&](const Register& entry) {
    return plan.scratch[entry.scratch].name == name;
  });
  EXPECT_NE(at, registers.end()) << name;
  return *at;
}

TEST(Pipeline, SumsOfALinearLayerStayInRegistersUntilTheLoopEnds) {
  const KernelPlan plan = plan_of(linear("f16", 2048, 128, 4));
  ASSERT_TRUE(plan.pipeline);
  const Pipeline& pipeline = *plan.pipeline;
  EXPECT_EQ(pipeline.slice_warps * pipeline.slices * pipeline.turns * 16, 128);
  EXPECT_EQ(pipeline.tiles.size(), 2u);  // x once, for the product and for the squares
  EXPECT_EQ(named(plan, "s").spread, Spread::Sums);
  EXPECT_EQ(named(plan, "q").spread, Spread::Rows);
  EXPECT_TRUE(named(plan, "s").is_read_after);
}

TEST(Pipeline, AttentionKeepsItsLogitsInRegisters) {
  const KernelPlan plan = plan_of(kAttention);
  ASSERT_TRUE(plan.pipeline);
  EXPECT_EQ(named(plan, "e").spread, Spread::Tile);
  EXPECT_EQ(named(plan, "o").spread, Spread::Sums);
  EXPECT_EQ(named(plan, "l").spread, Spread::Rows);
  ASSERT_EQ(plan.pipeline->before.size(), 1u);
  EXPECT_EQ(plan.pipeline->before[0].depth, 64);
  // Only what is read after the loop has memory.
  EXPECT_LE(plan.scratch_bytes, (32 * 64 + 2 * 32) * 4);
}

TEST(Pipeline, SmallGridsShareTheirLoops) {
  const KernelPlan plan = plan_of(kAttention);
  ASSERT_TRUE(plan.pipeline);
  EXPECT_EQ(plan.pipeline->blocks, 4);  // of 8 steps each block has two at least
  Target small = gpu();
  small.units = 8;
  EXPECT_EQ(plan_of(kAttention, small).pipeline->blocks, 2);
  EXPECT_EQ(plan_of(linear("f16", 1024, 128, 4)).pipeline->blocks, 1);
}

TEST(Pipeline, StagesFitTheBlock) {
  const KernelPlan plan = plan_of(linear("bf16", 1024, 128, 8));
  ASSERT_TRUE(plan.pipeline);
  EXPECT_EQ(plan.pipeline->element, ir::DType::BF16);
  EXPECT_LE(plan.pipeline->ring_bytes() + plan.scratch_bytes, gpu().scratch_bytes);
  EXPECT_EQ(plan.pipeline->stages, 8);  // all steps at once: they are few
}

struct Refused {
  std::string_view why;
  std::string text;
};

TEST(Pipeline, SaysWhyNot) {
  const Refused cases[] = {
      {"elements of 4 bytes", linear("f32", 256, 2, 4)},
      {"steps of 8 elements", linear("f16", 256, 2, 64)},
      {"rows of 4 elements", linear("f16", 256, 64, 4)},
      {"steps of different lengths", linear("f16", 256, 2, 3)},
      {"no loop", linear("f16", 256, 2, 1)},
      {"a stride of 250 elements", linear("f16", 250, 2, 4)},
  };
  for (const Refused& refused : cases) {
    const KernelPlan plan = plan_of(refused.text);
    EXPECT_FALSE(plan.pipeline) << refused.why;
    const auto planned = plan_pipeline(plan, gpu());
    ASSERT_FALSE(planned) << refused.why;
    EXPECT_NE(planned.error().message.find(refused.why), std::string::npos)
        << planned.error().message;
  }
  EXPECT_FALSE(plan_of(linear("f16", 256, 2, 4), *target_named("sm_80")).pipeline);
}

}  // namespace
}  // namespace mirage::lower
