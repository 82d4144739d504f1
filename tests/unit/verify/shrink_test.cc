#include "verify/shrink.h"

#include <gtest/gtest.h>

#include "ir/text.h"

namespace mirage::verify {
namespace {

ir::GraphPtr parse(const char* text) {
  auto graphs = ir::parse(text);
  EXPECT_TRUE(graphs) << graphs.error().message;
  return (*graphs)[0];
}

std::string input_shape(const ir::GraphPtr& graph, size_t i) {
  return ir::to_string(graph->type(graph->inputs[i]).shape);
}

TEST(Shrink, SplitAxesBecomeProducts) {
  const auto reference = parse(R"(
kernel @p(%x: f32[16,1024], %w: f32[1024,640]) -> f32[16,640] {
  %y = matmul %x, %w
  return %y
})");
  const auto candidate = parse(R"(
kernel @c(%x: f32[16,1024], %w: f32[1024,640]) -> f32[16,640] {
  %y = block(%x, %w) axes(n: grid 10, k: loop 8) {
    %a = load %x [., k]
    %b = load %w [k, n]
    %s = accum sum (matmul %a, %b)
    store %s [., n]
  }
  return %y
})");
  const auto pair = shrink(*reference, *candidate);
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_TRUE(pair->is_large_enough);
  const ir::Shape x = pair->reference->type(pair->reference->inputs[0]).shape;
  const ir::Shape w = pair->reference->type(pair->reference->inputs[1]).shape;
  EXPECT_EQ(x[1], w[0]);
  EXPECT_GE(x[1], 4);  // at least two steps of two
  EXPECT_LE(x[1], 9);
  EXPECT_EQ(input_shape(pair->candidate, 0), input_shape(pair->reference, 0));
  EXPECT_GE(pair->candidate->ops[0].body->launch.axes[0].trips, 2);
  EXPECT_GE(pair->candidate->ops[0].body->launch.axes[1].trips, 2);
}

TEST(Shrink, RotateHalfCutsTheAxisAtItsOffsets) {
  const auto graph = parse(R"(
kernel @p(%x: f32[8,64], %w: f32[64,32]) -> f32[8,32] {
  %a = narrow %x axis=1 start=0 length=32
  %b = narrow %x axis=1 start=32 length=32
  %c = concat (neg %b), %a axis=1
  %y = matmul (add %x, %c), %w
  return %y
})");
  const auto pair = shrink(*graph, *graph);
  ASSERT_TRUE(pair) << pair.error().message;
  const ir::Shape x = pair->reference->type(pair->reference->inputs[0]).shape;
  EXPECT_LE(x[1], 8);
  EXPECT_EQ(x[1] % 2, 0);
}

TEST(Shrink, RaggedSplitsBecomeExact) {
  const auto reference = parse(R"(
kernel @p(%x: f32[100,8]) -> f32[100,8] {
  %y = exp %x
  return %y
})");
  const auto candidate = parse(R"(
kernel @c(%x: f32[100,8]) -> f32[100,8] {
  %y = block(%x) axes(m: grid 7) {
    %a = load %x [m, .]
    store (exp %a) [m, .] shape=[100,8]
  }
  return %y
})");
  const auto pair = shrink(*reference, *candidate);
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_LE(pair->reference->type(pair->reference->inputs[0]).shape[0], 9);
}

TEST(Shrink, CubesOfSumsNeedThree) {
  // (sum x)^3 and its like agree at two elements where they differ at three.
  const auto graph = parse(R"(
kernel @p(%x: f32[1,64]) -> f32[1,1] {
  %s = sum %x axis=1
  %y = mul (square %s), %s
  return %y
})");
  const auto pair = shrink(*graph, *graph);
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_GE(pair->reference->type(pair->reference->inputs[0]).shape[1], 3);
}

TEST(Shrink, MultiplicitiesAreInputsBehindThoseOfTheProgram) {
  const auto graph = parse(R"(
kernel @p(%x: f32[64,64]) -> f32[64,1] {
  %s = sum (exp %x) axis=1
  return %s
})");
  struct Row {
    Multiplicities multiplicities;
    std::vector<std::string> inputs;
  };
  for (const Row& row :
       {Row{Multiplicities::None, {"[2,2]"}}, Row{Multiplicities::ByClass, {"[3,3]", "[3]", "[3]"}},
        Row{Multiplicities::ByExtent, {"[3,3]", "[3]"}}}) {
    const auto pair = shrink(*graph, *graph, row.multiplicities);
    ASSERT_TRUE(pair) << pair.error().message;
    for (const ir::GraphPtr& small : {pair->reference, pair->candidate}) {
      std::vector<std::string> inputs;
      for (size_t i = 0; i < small->inputs.size(); ++i) inputs.push_back(input_shape(small, i));
      EXPECT_EQ(inputs, row.inputs);
    }
  }
}

}  // namespace
}  // namespace mirage::verify
