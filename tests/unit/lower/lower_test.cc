#include "unit/lower/support.h"

namespace mirage::lower {
namespace {

TEST(Lower, OperatorsBecomeLaunchesAndMovesViews) {
  const auto program = lowered(R"(
kernel(%x: f32[4,6], %w: f32[8,6]) -> f32[4,8] {
  %t = transpose %w perm=[1,0]
  %y = relu (matmul %x, %t)
  return %y
})");
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->launches.size(), 2u) << print(*program);
  const Param& transposed = program->launches[0].params[1];
  EXPECT_EQ(transposed.strides, (ir::Strides{1, 6}));
  EXPECT_EQ(program->buffers[transposed.buffer].kind, BufferKind::Input);
}

TEST(Lower, OutputsMayRepeatAndBeInputs) {
  const auto program = lowered(R"(
kernel(%x: f32[4,6]) -> f32[4,6], f32[4,6], f32[4,6] {
  %y = exp %x
  return %y, %x, %y
})");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->launches.size(), 3u);  // exp and two copies
  EXPECT_EQ(program->workspace_bytes, 0);
}

TEST(Lower, WorkspaceIsShared) {
  const auto program = lowered(R"(
kernel(%x: f32[64,64]) -> f32[64,64] {
  %y = relu (exp (neg (relu (exp (neg %x)))))
  return %y
})");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->launches.size(), 6u);
  EXPECT_EQ(program->workspace_bytes, 2 * 64 * 64 * 4);
}

TEST(Lower, OtherTargetsAndTypesAreUnsupported) {
  const auto graph = graph_of("kernel(%x: i32[4]) -> i32[4] { %y = neg %x return %y }");
  const auto integer = lower(graph, *target_named("cpu"));
  ASSERT_FALSE(integer);
  EXPECT_EQ(integer.error().code, Code::Unsupported);
  EXPECT_EQ(integer.error().message, "input %x: no arithmetic on i32");
  EXPECT_EQ(lower(graph, *target_named("triton")).error().message, integer.error().message);
}

TEST(Lower, TilesInRegistersAreCutAlongInnerAxesToo) {
  const auto graph = graph_of(R"(
kernel(%x: f32[100,1000], %w: f32[1000,70], %z: f32[4,9000]) -> f32[4,1], f32[100,70] {
  %m = mean %z axis=1
  %y = matmul %x, %w
  return %m, %y
})");
  const auto program = lower(graph, *target_named("triton"));
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->launches.size(), 2u);
  EXPECT_EQ(program->launches[0].loop_steps(), 3);  // a row an item, 3000 of its elements a step
  const KernelPlan& product = program->launches[1];
  EXPECT_EQ(product.items(), 4);        // 50 x 35
  EXPECT_EQ(product.loop_steps(), 16);  // of 63
  EXPECT_EQ(lower(graph, *target_named("cpu"))->launches[1].loop_steps(), 1);
}

TEST(Lower, PrintsTheWholeProgram) {
  const auto program = lowered("kernel @k(%x: f32[2,3]) -> f32[2,3] { %y = exp %x return %y }");
  ASSERT_TRUE(program);
  EXPECT_EQ(print(*program), R"(program @k target cpu-portable workspace 0 bytes
  buffer 0 input 0
  buffer 1 output 0
  kernel k0_exp axes() compute f32 scratch 0 bytes
    in x = buffer 0 + 0 f32[2,3](3,1)
    out y = buffer 1 + 0 f32[2,3](3,1)
    epilogue
      map y:f32(3,1) <- x:f32(3,1) over [2,3] { %1 = exp %0; return %1 }  // %v3 = store %v2
)");
}

}  // namespace
}  // namespace mirage::lower
