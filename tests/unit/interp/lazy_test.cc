#include <gtest/gtest.h>

#include "interp/interp.h"
#include "ir/builder.h"
#include "ir/text.h"
#include "util/rng.h"

namespace mirage::interp {
namespace {

using ir::OpKind;
using ir::ValueId;

double element(const void*, size_t input, int64_t index) {
  return Rng(static_cast<uint64_t>(index) * 8 + input).normal();
}

ir::GraphPtr program(int64_t m, int64_t k, int64_t n) {
  ir::GraphBuilder builder;
  const ValueId x = *builder.input({ir::DType::F32, {m, k}});
  const ValueId w = *builder.input({ir::DType::F32, {k, n}});
  ir::Attrs axis;
  axis.axis = 1;
  const ValueId mean = *builder.add(OpKind::Mean, {*builder.add(OpKind::Square, {x})}, axis);
  const ValueId y = *builder.add(OpKind::Div, {x, *builder.add(OpKind::Sqrt, {mean})});
  // The product goes through a block with a ragged grid.
  ir::GraphBuilder body =
      *ir::GraphBuilder::block({{{"m", ir::Role::Grid, 2}, {"n", ir::Role::Grid, 3}}});
  const ValueId by = *body.input({ir::DType::F32, {m, k}}),
                bw = *body.input({ir::DType::F32, {k, n}});
  ir::Attrs rows, columns, both;
  rows.bind = {{0}, {}};
  columns.bind = {{}, {1}};
  both.bind = {{0}, {1}};
  both.ints = {m, n};
  const ValueId product = *body.add(OpKind::MatMul, {*body.add(OpKind::Load, {by}, rows),
                                                     *body.add(OpKind::Load, {bw}, columns)});
  body.add(OpKind::Store, {product}, both).value();
  const ValueId operands[] = {y, w};
  const ValueId z = (*builder.add_block(*body.finish(), operands))[0];
  ir::Attrs perm;
  perm.ints = {1, 0};
  builder.add(OpKind::Exp, {*builder.add(OpKind::Transpose, {z}, perm)}).value();
  return *builder.finish();
}

TEST(Lazy, EntriesAgreeWithTheWhole) {
  const ir::GraphPtr graph = program(5, 6, 8);
  std::vector<TensorF64> inputs = {TensorF64({5, 6}), TensorF64({6, 8})};
  for (size_t i = 0; i < 2; ++i)
    for (size_t k = 0; k < inputs[i].size(); ++k)
      inputs[i].data[k] = element(nullptr, i, static_cast<int64_t>(k));
  const auto whole = evaluate(*graph, inputs);
  ASSERT_TRUE(whole) << whole.error().message;
  LazyEvaluator lazy(graph, element, nullptr);
  for (int64_t i = 0; i < 40; ++i)
    EXPECT_NEAR(lazy.output(0, i).value(), (*whole)[0].data[static_cast<size_t>(i)], 1e-13) << i;
}

TEST(Lazy, ABlockMayHaveMoreResultsThanAByteCounts) {
  ir::GraphBuilder body = *ir::GraphBuilder::block({{{"n", ir::Role::Grid, 2}}});
  ir::Attrs rows;
  rows.bind = {{0}};
  const ValueId x = *body.add(OpKind::Load, {*body.input({ir::DType::F32, {4}})}, rows);
  constexpr size_t kResults = 300;
  for (size_t i = 0; i < kResults; ++i) {
    const ValueId factor = *body.constant(static_cast<double>(i));
    body.add(OpKind::Store, {*body.add(OpKind::Mul, {x, factor})}, rows).value();
  }
  ir::GraphBuilder builder;
  const ValueId operands[] = {*builder.input({ir::DType::F32, {4}})};
  builder.add_block(*body.finish(), operands).value();
  const ir::GraphPtr graph = *builder.finish();
  LazyEvaluator lazy(graph, element, nullptr);
  for (size_t i = 0; i < kResults; ++i)
    EXPECT_EQ(lazy.output(i, 3).value(), element(nullptr, 0, 3) * static_cast<double>(i));
}

struct Block {
  const char* name;
  const char* text;
};

class LazyBlocks : public testing::TestWithParam<Block> {};

TEST_P(LazyBlocks, EntriesAgreeWithTheWhole) {
  const auto graphs = ir::parse(GetParam().text);
  ASSERT_TRUE(graphs) << graphs.error().message;
  const ir::GraphPtr graph = (*graphs)[0];
  std::vector<TensorF64> inputs;
  for (size_t i = 0; i < graph->inputs.size(); ++i) {
    inputs.emplace_back(graph->type(graph->inputs[i]).shape);
    for (size_t k = 0; k < inputs[i].size(); ++k)
      inputs[i].data[k] = element(nullptr, i, static_cast<int64_t>(k));
  }
  const auto whole = evaluate(*graph, inputs);
  ASSERT_TRUE(whole) << whole.error().message;
  for (bool backwards : {false, true}) {
    LazyEvaluator lazy(graph, inputs);
    for (size_t o = 0; o < whole->size(); ++o)
      for (size_t n = 0; n < (*whole)[o].size(); ++n) {
        const size_t i = backwards ? (*whole)[o].size() - 1 - n : n;
        const double expected = (*whole)[o].data[i];
        EXPECT_NEAR(lazy.output(o, static_cast<int64_t>(i)).value(), expected,
                    1e-12 * (1 + std::abs(expected)))
            << "output " << o << " entry " << i;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, LazyBlocks,
                         testing::Values(Block{"loop_and_ragged_tiles", R"(
kernel @k(%x: f32[7,10], %w: f32[10,5]) {
  %y = block(%x, %w) axes(m: grid 3, n: grid 2, k: loop 4) {
    %a = load %x [m, k]
    %b = load %w [k, n]
    %h = load %w [., n]
    %s = accum sum (matmul (exp %a), %b)
    %q = accum sum (mul (sum (square %a) axis=1), 2)
    %l = accum max (max %a axis=1)
    %e = extent %x axis=1
    store (mul (div (add %s, %l), %q), (add (sum %h axis=0), %e)) [m, n] shape=[7,5]
  }
  return %y
})"},
                                         Block{"short_tiles_add_nothing", R"(
kernel @k(%x: f32[7,10]) {
  %y = block(%x) axes(k: loop 4) {
    %a = load %x [., k]
    store (accum sum (square %a)) [., .]
  }
  return %y
})"},
                                         Block{"online_softmax", R"(
kernel @k(%q: f32[2,6,4], %k: f32[2,4,12], %v: f32[2,12,3]) {
  %o, %p = block(%q, %k, %v) axes(b: grid 2, m: grid 3, j: loop 4) {
    %a = load %q [b, m, .]
    %t = load %k [b, ., j]
    %u = load %v [b, j, .]
    %s = mul (matmul %a, %t), 4
    %m1, %d = running_gauge %s axis=2
    %e = exp (sub %s, %m1)
    %r = exp %d
    %l = accum_rescale (sum %e axis=2), %r
    %n = accum_rescale (matmul %e, %u), %r
    store (div %n, %l) [b, m, .]
    store %l [b, m, .]
  }
  return %o, %p
})"},
                                         Block{"moves_and_means", R"(
kernel @k(%x: f32[6,8]) {
  %y, %z = block(%x) axes(g: grid 2, i: loop 2, j: loop 3) {
    %a = load %x [j, i/g]
    %b = narrow %a axis=1 start=1 length=1
    %c = concat %a, (neg %b) axis=1
    %d = reshape (transpose %c perm=[1,0]) shape=[2,3]
    %m1, %t = running_max (max %d axis=1) axis=0
    store (accum mean %d) [., g]
    store (accum sum (add %t, %m1)) [., g]
  }
  return %y, (exp %z)
})"}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Lazy, BlockEntriesCostWhatTheyDependOn) {
  const auto graph = ir::parse(R"(
kernel @k(%x: f32[64,4096], %w: f32[4096,4096]) {
  %y = block(%x, %w) axes(n: grid 32, k: loop 64) {
    %a = load %x [., k]
    %b = load %w [k, n]
    store (accum sum (matmul %a, %b)) [., n]
  }
  return %y
})")
                         .value()[0];
  LazyEvaluator lazy(graph, element, nullptr);
  ASSERT_TRUE(lazy.output(0, 4096 * 63 + 4095));
  EXPECT_LT(lazy.work(), 5000U);
}

TEST(Lazy, LargeProgramsAreCheapPerEntry) {
  LazyEvaluator lazy(program(16, 512, 60000), element, nullptr);
  lazy.set_work_limit(1000000000);
  ASSERT_TRUE(lazy.output(0, 12345));
  LazyEvaluator limited(program(16, 512, 60000), element, nullptr);
  limited.set_work_limit(1000);
  const auto stopped = limited.output(0, 12345);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::LimitExceeded);
  LazyEvaluator late(program(16, 512, 60000), element, nullptr);
  late.set_deadline(Deadline::in_seconds(0));
  const auto given_up = late.output(0, 12345);
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code, Code::Timeout);
}

TEST(Lazy, NoSuchEntry) {
  LazyEvaluator lazy(program(5, 6, 8), element, nullptr);
  EXPECT_FALSE(lazy.output(0, 40));
  EXPECT_FALSE(lazy.output(1, 0));
}

}  // namespace
}  // namespace mirage::interp
