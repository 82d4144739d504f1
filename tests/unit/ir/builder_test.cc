#include "ir/builder.h"

#include <gtest/gtest.h>

namespace mirage::ir {
namespace {

TensorType f32(Shape shape) { return {DType::F32, std::move(shape)}; }

GraphPtr linear(int64_t k, std::string name) {
  GraphBuilder builder;
  const ValueId x = *builder.input(f32({2, k}), std::move(name));
  const ValueId w = *builder.input(f32({k, 3}), "w");
  builder.add(OpKind::MatMul, {x, w}).value();
  return *builder.finish();
}

TEST(Builder, HashIsStructure) {
  EXPECT_EQ(linear(4, "x")->hash, linear(4, "renamed")->hash);
  EXPECT_NE(linear(4, "x")->hash, linear(5, "x")->hash);
}

TEST(Builder, UnreadValuesAreOutputsByDefault) {
  const GraphPtr graph = linear(4, "x");
  ASSERT_EQ(graph->outputs.size(), 1u);
  EXPECT_TRUE(graph->outputs_implied);
  EXPECT_EQ(to_string(graph->type(graph->outputs[0])), "f32[2,3]");
}

TEST(Builder, MatMulNamesInnerExtents) {
  GraphBuilder builder;
  const ValueId x = *builder.input(f32({16, 4096}), "x");
  const ValueId w = *builder.input(f32({406, 4096}), "w");
  const auto result = builder.add(OpKind::MatMul, {x, w});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "matmul %2: inner extents differ: lhs has k=4096, rhs has k=406");
}

TEST(Builder, SizeOverflowIsBadInput) {
  GraphBuilder builder;
  const auto result = builder.input(f32({0, int64_t{1} << 40, int64_t{1} << 40}), "x");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::BadInput);
}

TEST(Builder, OverlappingOutputStridesAreRefused) {
  GraphBuilder builder;
  const ValueId x = *builder.input(f32({4, 4}), "x");
  const ValueId y = *builder.add(OpKind::Exp, {x});
  const ValueId outputs[] = {y};
  const Strides strides[] = {{1, 1}};
  EXPECT_FALSE(builder.finish(outputs, strides));
}

TEST(Builder, BlockTilesAndPhases) {
  GraphBuilder block = *GraphBuilder::block({{{"n", Role::Grid, 3}, {"k", Role::Loop, 2}}, 0});
  const ValueId x = *block.input(f32({2, 4}), "x");
  const ValueId w = *block.input(f32({4, 5}), "w");
  Attrs bind;
  bind.bind = {{}, {1}};
  const ValueId a = *block.add(OpKind::Load, {x}, bind);
  bind.bind = {{1}, {0}};
  const ValueId b = *block.add(OpKind::Load, {w}, bind);
  EXPECT_EQ(to_string(block.type(b)), "f32[2,2]");
  const ValueId product = *block.add(OpKind::MatMul, {a, b});
  Attrs store;
  store.bind = {{}, {0}};
  store.ints = {2, 5};
  EXPECT_FALSE(block.add(OpKind::Store, {product}, store));  // changes with the loop
  Attrs sum;
  sum.combine = Combine::Sum;
  const ValueId total = *block.add(OpKind::Accum, {product}, sum);
  ASSERT_TRUE(block.add(OpKind::Store, {total}, store));
  EXPECT_FALSE(block.add(OpKind::Add, {total, product}));  // mixes phases
  const GraphPtr body = *block.finish();
  EXPECT_EQ(phases_of(*body)[total.index], Phase::AfterLoop);
  EXPECT_EQ(to_string(body->type(body->outputs[0])), "f32[2,5]");

  GraphBuilder kernel;
  const ValueId inputs[] = {*kernel.input(f32({2, 4})), *kernel.input(f32({4, 5}))};
  ASSERT_TRUE(kernel.add_block(body, inputs));
  ASSERT_TRUE(kernel.finish());
}

TEST(Builder, UncoveredGridIsRefused) {
  GraphBuilder block = *GraphBuilder::block({{{"n", Role::Grid, 2}}, 0});
  const ValueId x = *block.input(f32({4}), "x");
  Attrs attrs;
  attrs.bind = {{}};
  const ValueId a = *block.add(OpKind::Load, {x}, attrs);
  const auto result = block.add(OpKind::Store, {a}, attrs);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("would overlap"), std::string::npos);
}

}  // namespace
}  // namespace mirage::ir
