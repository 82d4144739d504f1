#include "lower/work.h"

#include "unit/lower/support.h"

namespace mirage::lower {
namespace {

TEST(Work, OperatorsCountTheirTensorsAndOperations) {
  const auto program = lowered(R"(
kernel(%x: f32[6,8], %w: f32[8,10]) -> f32[6,10] {
  %y = exp (matmul %x, %w)
  return %y
})");
  ASSERT_TRUE(program) << program.error().message;
  const std::vector<KernelWork> work = work_of(*program);
  ASSERT_EQ(work.size(), 2u);
  EXPECT_EQ(work[0].flops, 2 * 6 * 8 * 10);
  EXPECT_EQ(work[0].read_bytes, 4 * (6 * 8 + 8 * 10));
  EXPECT_EQ(work[0].written_bytes, 4 * 6 * 10);
  EXPECT_GE(work[0].accessed_bytes, work[0].read_bytes + work[0].written_bytes);
  EXPECT_EQ(work[1].flops, 6 * 10);
  EXPECT_EQ(work[1].accessed_bytes, 2 * 4 * 6 * 10);
}

TEST(Work, BroadcastOperandsCountOnce) {
  const auto program = lowered(R"(
kernel(%x: f16[4,8], %b: f16[1,8]) -> f16[4,8] {
  %y = add %x, %b
  return %y
})");
  ASSERT_TRUE(program) << program.error().message;
  const std::vector<KernelWork> work = work_of(*program);
  ASSERT_EQ(work.size(), 1u);
  EXPECT_EQ(work[0].read_bytes, 2 * (4 * 8 + 8));
  EXPECT_EQ(work[0].flops, 4 * 8);
}

// The loop takes 10 in steps of 4, 4 and 2; both items read all of w.
TEST(Work, BlocksCountItemsStepsAndShortTiles) {
  const auto program = lowered(R"(
kernel(%x: f32[6,10], %w: f32[10,5]) -> f32[6,5] {
  %y = block(%x, %w) axes(i: grid 2, k: loop 3) {
    %a = load %x [i, k]
    %b = load %w [k, .]
    %s = accum sum (matmul %a, %b)
    store %s [i, .]
  }
  return %y
})");
  ASSERT_TRUE(program) << program.error().message;
  const std::vector<KernelWork> work = work_of(*program);
  ASSERT_EQ(work.size(), 1u);
  EXPECT_EQ(work[0].items, 2);
  EXPECT_EQ(work[0].loop_steps, 3);
  EXPECT_DOUBLE_EQ(work[0].flops, 2 * 6 * 10 * 5);
  EXPECT_EQ(work[0].read_bytes, 4 * (6 * 10 + 10 * 5));
  EXPECT_EQ(work[0].written_bytes, 4 * 6 * 5);
  // The product, in the loop, and what the epilogue stores.
  EXPECT_DOUBLE_EQ(work[0].accessed_bytes, 4 * (6 * 10 + 2 * 10 * 5 + 6 * 5));
}

}  // namespace
}  // namespace mirage::lower
