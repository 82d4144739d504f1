#include <gtest/gtest.h>

#include "codegen/cuda/emit.h"
#include "ir/text.h"
#include "lower/lower.h"

namespace mirage::codegen {
namespace {

Result<SourceUnit> emitted(std::string_view text) {
  const auto graphs = ir::parse(text);
  EXPECT_TRUE(graphs) << graphs.error().message;
  const auto program = lower::lower((*graphs)[0], *lower::target_named("sm_90"));
  EXPECT_TRUE(program) << program.error().message;
  return emit_cuda(*program);
}

constexpr std::string_view kLinear = R"(
kernel(%x: f16[16,512], %w: f16[512,256]) -> f16[16,256] {
  %y = block(%x, %w) axes(n: grid 4, k: loop 8) {
    %s = accum sum (matmul (load %x [., k]), (load %w [k, n]))
    store %s [., n]
  }
  return %y
})";

TEST(EmitCudaPipeline, MapsDescribeTheTensorsInBytes) {
  const auto unit = emitted(kLinear);
  ASSERT_TRUE(unit);
  ASSERT_EQ(unit->entries.size(), 1u);
  const auto& maps = unit->entries[0].maps;
  ASSERT_EQ(maps.size(), 2u);
  const auto w = maps[0].extents == std::vector<int64_t>{256, 512} ? maps[0] : maps[1];
  EXPECT_EQ(w.extents, (std::vector<int64_t>{256, 512}));
  EXPECT_EQ(w.strides, (std::vector<int64_t>{2, 512}));
  EXPECT_EQ(w.box, (std::vector<int64_t>{64, 64}));
  EXPECT_EQ(w.swizzle_bytes, 128);
  EXPECT_EQ(unit->buffers[w.buffer].alignment, 16);
}

TEST(EmitCudaPipeline, BlocksOfAClusterWalkDifferentSteps) {
  const auto unit = emitted(kLinear);
  ASSERT_TRUE(unit);
  // Four blocks for each of four grid points, two steps each.
  EXPECT_EQ(unit->entries[0].items, 16);
  for (std::string_view text :
       {"__cluster_dims__(4, 1, 1)", "block_index() / 4", "first_step = cluster_rank() * 2",
        "static_cast<int>(first_step + step) * 64", "merge_blocks<ChainSum, 4>"})
    EXPECT_NE(unit->text.find(text), std::string::npos) << text << '\n' << unit->text;
}

}  // namespace
}  // namespace mirage::codegen
