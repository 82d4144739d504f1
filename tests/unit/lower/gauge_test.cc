#include "lower/gauge.h"

#include "unit/lower/support.h"

namespace mirage::lower {
namespace {

int count(const ir::Graph& graph, ir::OpKind kind) {
  int found = 0;
  for (const ir::Op& op : graph.ops) {
    found += op.kind == kind;
    if (op.body) found += count(*op.body, kind);
  }
  return found;
}

ir::GraphPtr safe(std::string_view text) {
  const auto graph = make_safe(graph_of(text));
  EXPECT_TRUE(graph) << graph.error().message;
  return *graph;
}

TEST(MakeSafe, SoftmaxGetsAMaximum) {
  const auto graph = safe(R"(kernel(%x: f32[4,6]) -> f32[4,6] {
    %e = exp %x
    %y = div %e, (sum %e axis=1)
    return %y })");
  EXPECT_EQ(count(*graph, ir::OpKind::GaugeMax), 1);
  EXPECT_EQ(count(*graph, ir::OpKind::Exp), 1);  // nothing is scaled back
}

TEST(MakeSafe, ABareSumIsScaledBack) {
  const auto graph =
      safe("kernel(%x: f32[4,6]) -> f32[4,1] { %y = sum (exp %x) axis=1 return %y }");
  EXPECT_EQ(count(*graph, ir::OpKind::GaugeMax), 1);
  EXPECT_EQ(count(*graph, ir::OpKind::Exp), 2);
}

TEST(MakeSafe, TheLogarithmOfASumNeedsNoSecondExponential) {
  const auto graph =
      safe("kernel(%x: f32[4,6]) -> f32[4,1] { %y = log (sum (exp %x) axis=1) return %y }");
  EXPECT_EQ(count(*graph, ir::OpKind::GaugeMax), 1);
  EXPECT_EQ(count(*graph, ir::OpKind::Exp), 1);
}

TEST(MakeSafe, LeavesASigmoidAndASafeSoftmaxAlone) {
  const std::string_view texts[] = {
      "kernel(%x: f32[4,6]) -> f32[4,6] { %o = const 1 %y = div %o, (add %o, exp (neg %x)) return "
      "%y }",
      R"(kernel(%x: f32[4,6]) -> f32[4,6] {
        %e = exp (sub %x, (max %x axis=1))
        %y = div %e, (sum %e axis=1)
        return %y })"};
  for (std::string_view text : texts) EXPECT_EQ(safe(text)->hash, graph_of(text)->hash);
}

TEST(MakeSafe, ALoopRunsWithTheMaximum) {
  const auto graph = safe(R"(
kernel(%q: f32[8,4], %k: f32[4,16], %v: f32[16,4]) -> f32[8,4] {
  %y = block(%q, %k, %v) axes(m: grid 2, t: loop 4) {
    %e = exp (matmul (load %q [m, .]), (load %k [., t]))
    %l = accum sum (sum %e axis=1)
    %o = accum sum (matmul %e, (load %v [t, .]))
    store (div %o, %l) [m, .]
  }
  return %y
})");
  EXPECT_EQ(count(*graph, ir::OpKind::RunningGauge), 1);
  EXPECT_EQ(count(*graph, ir::OpKind::Accum), 0);
  EXPECT_EQ(count(*graph, ir::OpKind::Exp), 2);  // of the logits and of the rescaling
}

TEST(MakeSafe, RunningMaximaFollowTransposes) {
  const auto graph = safe(R"(
kernel(%q: f32[8,4], %k: f32[4,16], %v: f32[16,4]) -> f32[8,4] {
  %y = block(%q, %k, %v) axes(m: grid 2, t: loop 4) {
    %e = exp (matmul (load %q [m, .]), (load %k [., t]))
    %l = accum sum (transpose (sum %e axis=1) perm=[1,0])
    %o = accum sum (matmul %e, (load %v [t, .]))
    store (div %o, (transpose %l perm=[1,0])) [m, .]
  }
  return %y
})");
  EXPECT_EQ(count(*graph, ir::OpKind::RunningGauge), 1);
  EXPECT_EQ(count(*graph, ir::OpKind::Accum), 0);
  EXPECT_EQ(count(*graph, ir::OpKind::Exp), 3);  // of the logits, and of both rescalings
}

TEST(MakeSafe, WeightsFollowTransposesAndRoots) {
  const auto graph = safe(R"(kernel(%x: f32[4,6]) -> f32[6,4] {
    %e = exp %x
    %t = transpose %e perm=[1,0]
    %y = div %t, (sqrt (sum (square %t) axis=0))
    return %y })");
  EXPECT_EQ(count(*graph, ir::OpKind::GaugeMax), 1);
  EXPECT_EQ(count(*graph, ir::OpKind::Exp), 1);
}

TEST(MakeSafe, SumsOverDifferentAxesHaveNoCommonGauge) {
  const std::string_view text = R"(kernel(%x: f32[4,6]) -> f32[4,6] {
    %e = exp %x
    %y = add (div %e, (sum %e axis=1)), (div %e, (sum %e axis=0))
    return %y })";
  EXPECT_EQ(count(*safe(text), ir::OpKind::GaugeMax), 0);
}

}  // namespace
}  // namespace mirage::lower
