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
  const auto triton = lower(graph, *target_named("triton"));
  ASSERT_FALSE(triton);
  EXPECT_EQ(triton.error().message, "target triton: cannot be lowered to");
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
