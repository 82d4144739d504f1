#include <gtest/gtest.h>

#include "interp/interp.h"
#include "ir/builder.h"
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

TEST(Lazy, LargeProgramsAreCheapPerEntry) {
  LazyEvaluator lazy(program(16, 512, 60000), element, nullptr);
  lazy.set_work_limit(1000000000);
  ASSERT_TRUE(lazy.output(0, 12345));
  LazyEvaluator limited(program(16, 512, 60000), element, nullptr);
  limited.set_work_limit(1000);
  const auto stopped = limited.output(0, 12345);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::LimitExceeded);
}

TEST(Lazy, NoSuchEntry) {
  LazyEvaluator lazy(program(5, 6, 8), element, nullptr);
  EXPECT_FALSE(lazy.output(0, 40));
  EXPECT_FALSE(lazy.output(1, 0));
}

}  // namespace
}  // namespace mirage::interp
