#include "ir/text.h"

#include <gtest/gtest.h>

#include "ir/builder.h"

namespace mirage::ir {
namespace {

constexpr std::string_view kRmsMatmul =
    R"(kernel @rms_matmul(%x: f16[16,4096], %w: f16[4096,6144] strides(1,4096)) -> f16[16,6144] {
  %y = block(%x, %w) axes(n: grid 96, k: loop 64) threads(256) {  // the body reads tiles
    %a = load %x [., k]
    %b = load %w [k, n]
    %m = accum sum (matmul %a, %b)
    %q = accum sum (sum (square %a) axis 1)
    store (div %m, sqrt (mul %q, 0x1p-12)) [., n]
  }
  return %y
}
)";

GraphPtr parse_one(std::string_view text) {
  auto graphs = parse(text);
  EXPECT_TRUE(graphs) << (graphs ? "" : graphs.error().message);
  return graphs ? graphs->at(0) : nullptr;
}

void expect_round_trip(std::string_view text) {
  const GraphPtr graph = parse_one(text);
  ASSERT_TRUE(graph);
  const std::string printed = print(*graph);
  const GraphPtr again = parse_one(printed);
  ASSERT_TRUE(again) << printed;
  EXPECT_EQ(graph->hash, again->hash) << printed;
  EXPECT_EQ(printed, print(*again));
}

TEST(Text, TheDocumentedExample) {
  const GraphPtr graph = parse_one(kRmsMatmul);
  ASSERT_TRUE(graph);
  EXPECT_EQ(
      print(*graph),
      R"(kernel @rms_matmul(%x: f16[16,4096], %w: f16[4096,6144] strides(1,4096)) -> f16[16,6144] {
  %y = block(%x, %w) axes(n: grid 96, k: loop 64) threads(256) {
    %a = load %x [., k]  // f16[16,64]
    %b = load %w [k, n]  // f16[64,64]
    %4 = matmul %a, %b  // f16[16,64]
    %m = accum sum %4  // f16[16,64]
    %6 = square %a  // f16[16,64]
    %7 = sum %6 axis=1  // f16[16,1]
    %q = accum sum %7  // f16[16,1]
    %10 = mul %q, 0x1p-12  // f16[16,1]
    %11 = sqrt %10  // f16[16,1]
    %12 = div %m, %11  // f16[16,64]
    store %12 [., n]  // f16[16,6144]
  }
  return %y
}
)");
  expect_round_trip(kRmsMatmul);
}

TEST(Text, RoundTripsEveryFeature) {
  expect_round_trip("kernel(%x: f32[], %y: f32[0,3]) { %a = add %x, (mul %y, -inf) }");
  expect_round_trip(
      "kernel(%x: f32[4]) -> f32[4], f32[4] strides(2) { %a = exp %x return %a, %x }");
  expect_round_trip(
      "kernel(%x: bf16[4]) { %c = const -0x0p+0 %a = clamp %x lo=-1 hi 0.1 "
      "%b = mul %c, %a }");
  expect_round_trip(
      "kernel(%x: f64[2,3,4]) { %t = transpose %x perm=[2,0,1] "
      "%r = reshape %t shape=[24] %n = narrow %r axis=-1 start=3 length=5 "
      "%c = concat %n, %r, %n axis=0 %e = extent %x axis=2 %d = div %c, %e }");
  expect_round_trip(
      "kernel(%x: f32[7,5]) { %y, %z = block(%a = %x, %b = %x) "
      "axes(i: grid 2, j: grid 2, k: loop 3) { "
      "%1 = load %a [i/j, k] %m, %d = running_max %1 axis=1 "
      "%e = exp (sub %1, %m) %s = accum_rescale (sum %e axis=1), (exp %d) "
      "%l = load %b [i/j, .] store %s [i/j, .] shape=[7,1] "
      "store %l [i/j, .] shape [7,5] } }");
  expect_round_trip(
      "block @b(%x: f32[8]) axes(i: grid 4, c: cluster 1, w: warp 1) "
      "{ %a = load %x [i] store (exp %a) [i] }");
  expect_round_trip("thread @t(%x: f32[8]) -> f32[8] { %y = silu %x }");
}

TEST(Text, SeveralKernels) {
  const auto graphs = parse(
      "kernel @a(%x: f32[2]) { %y = exp %x }\n// between\n"
      "kernel @b(%x: f32[2]) { %y = log %x }");
  ASSERT_TRUE(graphs);
  ASSERT_EQ(graphs->size(), 2u);
  EXPECT_EQ((*graphs)[1]->name, "b");
  const auto again = parse(print(std::span<const GraphPtr>(*graphs)));
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)[1]->hash, (*graphs)[1]->hash);
}

TEST(Text, NamesAreMadeUnique) {
  GraphBuilder builder;
  const ValueId x = *builder.input({DType::F32, {2}}, "x");
  const ValueId a = *builder.add(OpKind::Exp, {x});
  const ValueId late = *builder.input({DType::F32, {2}}, "not a name");
  builder.name_value(a, "x");
  const ValueId sum = *builder.add(OpKind::Add, {a, late});
  builder.name_value(sum, "x_2");
  const GraphPtr graph = *builder.finish();
  const std::string text = print(*graph);
  EXPECT_EQ(text,
            "kernel(%x: f32[2], %1: f32[2]) -> f32[2] {\n"
            "  %x_2 = exp %x  // f32[2]\n"
            "  %x_2_2 = add %x_2, %1  // f32[2]\n"
            "}\n");
  EXPECT_EQ(parse_one(text)->hash, graph->hash);
}

TEST(Text, ConstantsStayWhereTheyWere) {
  for (bool is_reversed : {false, true}) {
    GraphBuilder builder;
    const ValueId x = *builder.input({DType::F32, {2}}, "x");
    const ValueId a = *builder.constant(2), b = *builder.constant(3);
    const ValueId ab =
        is_reversed ? *builder.add(OpKind::Add, {b, a}) : *builder.add(OpKind::Add, {a, b});
    *builder.add(OpKind::Mul, {x, ab});
    const GraphPtr graph = *builder.finish();
    EXPECT_EQ(parse_one(print(*graph))->hash, graph->hash) << print(*graph);
  }
}

TEST(Text, LongTextsTakeLinearTime) {  // else this runs into the limit of ctest
  std::string text = "kernel(%x: f32[8]) {\n%v0 = exp %x\n";
  for (int i = 1; i < 50000; ++i) text += fmt::format("%v{} = add %v{}, %x\n", i, i - 1);
  const GraphPtr graph = parse_one(text + "}");
  ASSERT_TRUE(graph);
  expect_round_trip(print(*graph));
}

}  // namespace
}  // namespace mirage::ir
