#include "interp/interp.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/builder.h"
#include "util/rng.h"

namespace mirage::interp {
namespace {

using ir::DType;
using ir::GraphBuilder;
using ir::GraphPtr;
using ir::OpKind;
using ir::Role;
using ir::ValueId;

ir::TensorType f64(ir::Shape shape) { return {DType::F64, std::move(shape)}; }

TensorF64 random(const ir::Shape& shape, uint64_t seed) {
  Rng rng(seed);
  TensorF64 tensor(shape);
  for (double& x : tensor.data) x = rng.normal();
  return tensor;
}

ir::Attrs axis(int64_t i) {
  ir::Attrs attrs;
  attrs.axis = i;
  return attrs;
}
ir::Attrs bind(ir::Bind value, std::vector<int64_t> shape = {}) {
  ir::Attrs attrs;
  attrs.bind = std::move(value);
  attrs.ints = std::move(shape);
  return attrs;
}
ir::Attrs combine(ir::Combine value) {
  ir::Attrs attrs;
  attrs.combine = value;
  return attrs;
}

/// Attention of q[m,d], k[d,n], v[n,e] as one block: grid over rows of q, loop over keys.
GraphPtr flash(int64_t m, int64_t d, int64_t n, int64_t e, int64_t row_tiles, int64_t steps,
               bool gauge, bool rescale = true) {
  GraphBuilder body =
      *GraphBuilder::block({{{"m", Role::Grid, row_tiles}, {"k", Role::Loop, steps}}});
  const ValueId q = *body.input(f64({m, d})), k = *body.input(f64({d, n})),
                v = *body.input(f64({n, e}));
  const ValueId tq = *body.add(OpKind::Load, {q}, bind({{0}, {}}));
  const ValueId tk = *body.add(OpKind::Load, {k}, bind({{}, {1}}));
  const ValueId tv = *body.add(OpKind::Load, {v}, bind({{1}, {}}));
  const ValueId s = *body.add(OpKind::MatMul, {tq, tk});
  ValueId top, bottom;
  if (gauge) {
    const ValueId one = s;
    const auto pair = *body.add_all(OpKind::RunningGauge, std::span(&one, 1), axis(1));
    const ValueId p = *body.add(OpKind::Exp, {*body.add(OpKind::Sub, {s, pair[0]})});
    const ValueId r = *body.add(OpKind::Exp, {pair[1]});
    const ValueId l = *body.add(OpKind::Sum, {p}, axis(1));
    const ValueId o = *body.add(OpKind::MatMul, {p, tv});
    if (rescale) {
      bottom = *body.add(OpKind::AccumRescale, {l, r});
      top = *body.add(OpKind::AccumRescale, {o, r});
    } else {
      bottom = *body.add(OpKind::Accum, {l}, combine(ir::Combine::Sum));
      top = *body.add(OpKind::Accum, {o}, combine(ir::Combine::Sum));
    }
  } else {
    const ValueId p = *body.add(OpKind::Exp, {s});
    bottom =
        *body.add(OpKind::Accum, {*body.add(OpKind::Sum, {p}, axis(1))}, combine(ir::Combine::Sum));
    top = *body.add(OpKind::Accum, {*body.add(OpKind::MatMul, {p, tv})}, combine(ir::Combine::Sum));
  }
  body.add(OpKind::Store, {*body.add(OpKind::Div, {top, bottom})}, bind({{0}, {}}, {m, e})).value();
  GraphBuilder builder;
  const ValueId operands[] = {*builder.input(f64({m, d})), *builder.input(f64({d, n})),
                              *builder.input(f64({n, e}))};
  builder.add_block(*body.finish(), operands).value();
  return *builder.finish();
}

/// Safe softmax attention in plain loops.
std::vector<double> attention(const TensorF64& q, const TensorF64& k, const TensorF64& v) {
  const size_t m = static_cast<size_t>(q.shape[0]), d = static_cast<size_t>(q.shape[1]),
               n = static_cast<size_t>(k.shape[1]), e = static_cast<size_t>(v.shape[1]);
  std::vector<double> out(m * e, 0);
  for (size_t i = 0; i < m; ++i) {
    std::vector<double> s(n, 0);
    double top = -1e300, sum = 0;
    for (size_t j = 0; j < n; ++j) {
      for (size_t c = 0; c < d; ++c) s[j] += q.data[i * d + c] * k.data[c * n + j];
      top = std::max(top, s[j]);
    }
    for (size_t j = 0; j < n; ++j) {
      const double p = std::exp(s[j] - top);
      sum += p;
      for (size_t c = 0; c < e; ++c) out[i * e + c] += p * v.data[j * e + c];
    }
    for (size_t c = 0; c < e; ++c) out[i * e + c] /= sum;
  }
  return out;
}

TEST(Evaluate, AttentionBlocksOfEverySplit) {
  for (int64_t row_tiles : {1, 2, 3})
    for (int64_t steps : {1, 2, 4})
      for (bool gauge : {false, true}) {
        const std::vector<TensorF64> inputs = {random({5, 3}, 1), random({3, 7}, 2),
                                               random({7, 4}, 3)};
        const auto outputs = evaluate(*flash(5, 3, 7, 4, row_tiles, steps, gauge), inputs);
        ASSERT_TRUE(outputs) << outputs.error().message;
        const std::vector<double> expected = attention(inputs[0], inputs[1], inputs[2]);
        for (size_t i = 0; i < expected.size(); ++i)
          ASSERT_NEAR((*outputs)[0].data[i], expected[i], 1e-13) << row_tiles << steps << gauge;
      }
}

TEST(Evaluate, BareExponentialsOfHugeLogitsAreSafe) {
  std::vector<TensorF64> inputs = {random({5, 3}, 1), random({3, 7}, 2), random({7, 4}, 3)};
  for (double& x : inputs[0].data) x *= 1e4;
  const auto outputs = evaluate(*flash(5, 3, 7, 4, 2, 2, false), inputs);
  const std::vector<double> expected = attention(inputs[0], inputs[1], inputs[2]);
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR((*outputs)[0].data[i], expected[i], 1e-9);
}

TEST(Evaluate, WithoutRescaleOnlineSoftmaxIsWrong) {
  const std::vector<TensorF64> inputs = {random({5, 3}, 1), random({3, 8}, 2), random({8, 4}, 3)};
  const auto outputs = evaluate(*flash(5, 3, 8, 4, 1, 4, true, false), inputs);
  const std::vector<double> expected = attention(inputs[0], inputs[1], inputs[2]);
  double error = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    error = std::max(error, std::fabs((*outputs)[0].data[i] - expected[i]));
  EXPECT_GT(error, 1e-3);
}

TEST(Evaluate, MovesAndBroadcasting) {
  GraphBuilder builder;
  const ValueId x = *builder.input(f64({2, 3}));
  ir::Attrs perm;
  perm.ints = {1, 0};
  const ValueId t = *builder.add(OpKind::Transpose, {x}, perm);
  ir::Attrs shape;
  shape.ints = {2, 3};
  const ValueId r = *builder.add(OpKind::Reshape, {t}, shape);
  const ValueId c = *builder.add(OpKind::Concat, {x, r}, axis(1));
  ir::Attrs range = axis(1);
  range.ints = {2, 3};
  const ValueId n = *builder.add(OpKind::Narrow, {c}, range);
  const ValueId mean = *builder.add(OpKind::Mean, {n}, axis(0));
  const ValueId y = *builder.add(OpKind::Sub, {n, mean});
  const ValueId size = *builder.add(OpKind::Extent, {c}, axis(1));
  builder.add(OpKind::Mul, {y, size}).value();
  const std::vector<TensorF64> inputs = {TensorF64({2, 3}, {1, 2, 3, 4, 5, 6})};
  const auto outputs = evaluate(**builder.finish(), inputs);
  // t = 1 4 | 2 5 | 3 6; r = 1 4 2 | 5 3 6; c = 1 2 3 1 4 2 | 4 5 6 5 3 6; n = 3 1 4 | 6 5 3
  EXPECT_EQ((*outputs)[0].data, (std::vector<double>{-9, -12, 3, 9, 12, -3}));
}

TEST(Evaluate, GridLoopAndTwoAccumulators) {
  // y = x / sqrt(mean x^2) as a block that loops over ragged columns and divides by the extent.
  GraphBuilder body = *GraphBuilder::block({{{"m", Role::Grid, 2}, {"k", Role::Loop, 3}}});
  const ValueId x = *body.input(f64({3, 7})), w = *body.input(f64({7, 2}));
  const ValueId tx = *body.add(OpKind::Load, {x}, bind({{0}, {1}}));
  const ValueId tw = *body.add(OpKind::Load, {w}, bind({{1}, {}}));
  const ValueId dot =
      *body.add(OpKind::Accum, {*body.add(OpKind::MatMul, {tx, tw})}, combine(ir::Combine::Sum));
  const ValueId square = *body.add(OpKind::Sum, {*body.add(OpKind::Square, {tx})}, axis(1));
  const ValueId total = *body.add(OpKind::Accum, {square}, combine(ir::Combine::Sum));
  const ValueId n = *body.add(OpKind::Extent, {x}, axis(1));
  const ValueId rms = *body.add(OpKind::Sqrt, {*body.add(OpKind::Div, {total, n})});
  body.add(OpKind::Store, {*body.add(OpKind::Div, {dot, rms})}, bind({{0}, {}}, {3, 2})).value();
  GraphBuilder builder;
  const ValueId operands[] = {*builder.input(f64({3, 7})), *builder.input(f64({7, 2}))};
  builder.add_block(*body.finish(), operands).value();
  const std::vector<TensorF64> inputs = {random({3, 7}, 5), random({7, 2}, 6)};
  const auto outputs = evaluate(**builder.finish(), inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 2; ++j) {
      double squares = 0, sum = 0;
      for (size_t k = 0; k < 7; ++k) {
        squares += inputs[0].data[i * 7 + k] * inputs[0].data[i * 7 + k];
        sum += inputs[0].data[i * 7 + k] * inputs[1].data[k * 2 + j];
      }
      EXPECT_NEAR((*outputs)[0].data[i * 2 + j], sum / std::sqrt(squares / 7), 1e-13);
    }
}

TEST(Evaluate, ShortTileAgainstWholeIsUnsupported) {
  GraphBuilder body = *GraphBuilder::block({{{"k", Role::Loop, 2}}});
  const ValueId x = *body.input(f64({3})), y = *body.input(f64({2}));
  const ValueId a = *body.add(OpKind::Load, {x}, bind({{0}}));
  const ValueId b = *body.add(OpKind::Load, {y}, bind({{}}));
  const ValueId sum =
      *body.add(OpKind::Accum, {*body.add(OpKind::Add, {a, b})}, combine(ir::Combine::Sum));
  body.add(OpKind::Store, {sum}, bind({{}})).value();
  GraphBuilder builder;
  const ValueId operands[] = {*builder.input(f64({3})), *builder.input(f64({2}))};
  builder.add_block(*body.finish(), operands).value();
  const std::vector<TensorF64> inputs = {random({3}, 1), random({2}, 2)};
  const auto outputs = evaluate(**builder.finish(), inputs);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, Code::Unsupported);
}

TEST(Evaluate, RefusesWrongShapes) {
  const std::vector<TensorF64> inputs = {random({5, 3}, 1), random({3, 7}, 2), random({7, 5}, 3)};
  const auto outputs = evaluate(*flash(5, 3, 7, 4, 1, 1, false), inputs);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().message, "evaluate: input 2 should have shape [7,4], found [7,5]");
}

}  // namespace
}  // namespace mirage::interp
