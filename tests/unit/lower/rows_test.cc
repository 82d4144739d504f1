#include "lower/rows.h"

#include "unit/lower/support.h"

namespace mirage::lower {
namespace {

Result<Program> for_gpu(std::string_view text, std::string_view target = "sm_90") {
  return lower(graph_of(text), *target_named(target));
}

/// The one kernel of a program, without what lowering decided about its rows.
KernelPlan kernel(std::string_view text) {
  const auto program = for_gpu(text);
  EXPECT_TRUE(program) << program.error().message;
  if (!program) return {};
  EXPECT_EQ(program->launches.size(), 1u);
  return program->launches[0];
}

std::string softmax(std::string_view type, int64_t rows, int64_t columns, int64_t trips) {
  return fmt::format(R"(
kernel(%x: {0}[{1},{2}]) -> {0}[{1},{2}] {{
  %y = block(%x) axes(m: grid {3}) {{
    %e = exp (load %x [m, .])
    store (div %e, (sum %e axis=1)) [m, .] shape=[{1},{2}]
  }}
  return %y
}})",
                     type, rows, columns, trips);
}

TEST(LowerRows, ThreadsAndBlocksFollowTheShape) {
  struct Case {
    std::string_view type;
    int64_t rows, columns;
    int64_t width, access;
    int team, teams, cluster;
  };
  const Case cases[] = {
      {"f16", 64, 4096, 8, 8, 256, 1, 1},     // few rows: more threads each
      {"f16", 4096, 4096, 8, 8, 64, 1, 1},    // many: more loads in flight of each thread
      {"f32", 64, 4096, 4, 4, 512, 1, 1},     //
      {"f16", 4096, 128, 8, 8, 8, 16, 1},     // a part of a warp
      {"f16", 8, 128256, 8, 8, 512, 1, 8},    // too long for a block
      {"f16", 64, 1000, 8, 8, 64, 1, 1},      //
      {"f16", 64, 4095, 8, 1, 256, 1, 1},     // rows begin anywhere
      {"f16", 64, 4100, 8, 4, 512, 1, 1},     //
      {"bf16", 1 << 20, 3, 4, 1, 1, 128, 1},  // a thread a row
      {"f32", 64, 1, 1, 1, 1, 32, 1},
  };
  for (const Case& c : cases)
    for (const int64_t trips : {int64_t{1}, c.rows}) {
      SCOPED_TRACE(fmt::format("{} {}x{} grid {}", c.type, c.rows, c.columns, trips));
      const KernelPlan plan = kernel(softmax(c.type, c.rows, c.columns, trips));
      ASSERT_TRUE(plan.rows);
      const RowPlan& rows = *plan.rows;
      EXPECT_EQ(rows.width, c.width);
      EXPECT_EQ(rows.loads[0].access, c.access);
      EXPECT_EQ(rows.team, c.team);
      EXPECT_EQ(rows.teams, c.teams);
      EXPECT_EQ(rows.cluster, c.cluster);
      EXPECT_EQ(plan.scratch_bytes, 0);
      EXPECT_GE(rows.chunks * rows.width * rows.members(), c.columns);
      EXPECT_EQ(plan.items() * rows.rows_of_item(), c.rows);
    }
}

TEST(LowerRows, ReductionsThatAreReadyTogetherAreFinishedTogether) {
  const KernelPlan plan = kernel(R"(
kernel(%x: f16[8,512]) -> f16[8,512] {
  %y = block(%x) axes(m: grid 8) {
    %a = load %x [m, .]
    %m = mean %a axis=1
    %q = mean (square %a) axis=1
    %n = div (sub %a, %m), (sqrt %q)
    store (div %n, (sum (square %n) axis=1)) [m, .]
  }
  return %y
})");
  ASSERT_TRUE(plan.rows);
  std::vector<size_t> rounds;
  for (const RowStep& step : plan.rows->steps)
    if (!step.combined.empty()) rounds.push_back(step.combined.size());
  EXPECT_EQ(rounds, (std::vector<size_t>{2, 1}));
  EXPECT_TRUE(plan.rows->combined.empty());
}

TEST(LowerRows, SumsThatAreStoredAreFinishedInTheEnd) {
  const KernelPlan plan = kernel("kernel(%x: f16[8,512]) -> f16[8,1] { return (sum %x axis=1) }");
  ASSERT_TRUE(plan.rows);
  EXPECT_EQ(plan.rows->combined.size(), 1u);
}

TEST(LowerRows, OperandsOfRowsAndOfColumnsAreKnown) {
  const KernelPlan plan = kernel(R"(
kernel(%x: bf16[3,5,96], %g: bf16[96], %s: bf16[3,5,1]) -> bf16[3,5,96] {
  %y = block(%x, %g, %s) axes(m: grid 3) {
    %a = mul (load %x [m, ., .]), (load %g [.])
    store (div %a, (load %s [m, ., .])) [m, ., .]
  }
  return %y
})");
  ASSERT_TRUE(plan.rows);
  const RowPlan& rows = *plan.rows;
  EXPECT_EQ(rows.rows, std::vector<Length>{{5}});
  ASSERT_EQ(rows.loads.size(), 3u);
  EXPECT_TRUE(rows.loads[0].is_tile && rows.loads[1].is_tile);
  EXPECT_FALSE(rows.loads[2].is_tile);
}

TEST(LowerRows, WhatRegistersCannotHoldIsRefusedWithAReason) {
  struct Case {
    std::string_view reason, text;
  };
  const Case cases[] = {
      {"a loop", R"(
kernel(%x: f16[8,512]) -> f16[8,1] {
  %y = block(%x) axes(m: grid 8, k: loop 4) {
    store (accum sum (sum (load %x [m, k]) axis=1)) [m, .]
  }
  return %y
})"},
      {"arithmetic in double precision",
       "kernel(%x: f64[8,512]) -> f64[8,1] { return (sum %x axis=1) }"},
      {"a matmul step", R"(
kernel(%x: f16[8,64], %w: f16[64,64]) -> f16[8,64] { return (matmul %x, %w) })"},
      {"reductions over two axes", R"(
kernel(%x: f16[8,512]) -> f16[8,512] {
  %y = block(%x) axes(i: grid 1) {
    %a = load %x [., .]
    store (div (div %a, (sum %a axis=1)), (sum %a axis=0)) [., .]
  }
  return %y
})"},
      {"x: columns 512 elements apart",
       "kernel(%x: f16[8,512]) -> f16[1,512] { return (sum %x axis=0) }"},
      {"a value that is read in another order", R"(
kernel(%x: f16[64,64]) -> f16[64,64] {
  %y = block(%x) axes(i: grid 1) {
    %e = exp (load %x [., .])
    store (add %e, (transpose %e perm=[1,0])) [., .]
  }
  return %y
})"},
      {"rows of 4194304 elements",
       "kernel(%x: f16[1,4194304]) -> f16[1,1] { return (sum %x axis=1) }"},
  };
  for (const Case& c : cases) {
    const KernelPlan plan = kernel(c.text);
    EXPECT_FALSE(plan.rows) << c.reason;
    const auto rows = plan_rows(plan, *target_named("sm_90"));
    ASSERT_FALSE(rows) << c.reason;
    EXPECT_EQ(rows.error().message, c.reason);
  }
}

TEST(LowerRows, TargetsWithoutClustersHoldShorterRows) {
  const std::string text = softmax("f16", 8, 128256, 8);
  EXPECT_FALSE((*for_gpu(text, "sm_80")).launches[0].rows);
  EXPECT_FALSE((*for_gpu(text, "cpu-portable")).launches[0].rows);
  EXPECT_TRUE((*for_gpu(softmax("f16", 8, 32768, 8), "sm_80")).launches[0].rows);
}

}  // namespace
}  // namespace mirage::lower
