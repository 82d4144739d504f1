// Every row of the op table against an oracle written without it: long double for maps, plain loops
// for reductions, contractions and moves. A map without a formula here is held against its own body
// in long double.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "interp/interp.h"
#include "ir/builder.h"
#include "ir/ops/bodies.h"
#include "util/rng.h"

namespace mirage::ir {
namespace {

using interp::TensorF64;
using Oracle = std::function<long double(long double, long double)>;

long double sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }

const std::map<OpKind, Oracle>& map_oracles() {
  static const std::map<OpKind, Oracle> oracles = {
      {OpKind::Exp, [](long double x, long double) { return std::exp(x); }},
      {OpKind::Log, [](long double x, long double) { return std::log(x); }},
      {OpKind::Sqrt, [](long double x, long double) { return std::sqrt(x); }},
      {OpKind::Rsqrt, [](long double x, long double) { return 1 / std::sqrt(x); }},
      {OpKind::Square, [](long double x, long double) { return x * x; }},
      {OpKind::Sigmoid, [](long double x, long double) { return sigmoid(x); }},
      {OpKind::Silu, [](long double x, long double) { return x * sigmoid(x); }},
      {OpKind::Gelu,
       [](long double x, long double) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0L))); }},
      {OpKind::Relu, [](long double x, long double) { return x > 0 ? x : 0; }},
      {OpKind::Tanh, [](long double x, long double) { return std::tanh(x); }},
      {OpKind::Neg, [](long double x, long double) { return -x; }},
      {OpKind::Clamp,
       [](long double x, long double) { return std::fmin(std::fmax(x, -0.5L), 0.75L); }},
      {OpKind::Add, [](long double a, long double b) { return a + b; }},
      {OpKind::Sub, [](long double a, long double b) { return a - b; }},
      {OpKind::Mul, [](long double a, long double b) { return a * b; }},
      {OpKind::Div, [](long double a, long double b) { return a / b; }},
      {OpKind::Pow, [](long double a, long double b) { return std::pow(a, b); }},
      {OpKind::Maximum, [](long double a, long double b) { return a > b ? a : b; }},
      {OpKind::Minimum, [](long double a, long double b) { return a < b ? a : b; }},
  };
  return oracles;
}

struct LongDouble {
  using Value = long double;
  static Value constant(double x) { return x; }
  static Value add(Value a, Value b) { return a + b; }
  static Value sub(Value a, Value b) { return a - b; }
  static Value mul(Value a, Value b) { return a * b; }
  static Value div(Value a, Value b) { return a / b; }
  static Value neg(Value a) { return -a; }
  static Value maximum(Value a, Value b) { return a > b ? a : b; }
  static Value minimum(Value a, Value b) { return a < b ? a : b; }
  static Value pow(Value a, Value b) { return std::pow(a, b); }
  static Value apply(Fn fn, Value x) {
    switch (fn) {
      case Fn::Exp:
        return std::exp(x);
      case Fn::Log:
        return std::log(x);
      case Fn::Sqrt:
        return std::sqrt(x);
      case Fn::Erf:
        return std::erf(x);
    }
    return std::nanl("");
  }
};

long double body(const OpDef& row, const Attrs& attrs, long double a, long double b) {
  LongDouble domain;
  const long double args[] = {a, b};
  return eval_map(row.kind, domain, attrs,
                  std::span<const long double>(args, static_cast<size_t>(row.arity)));
}

TensorF64 random(const Shape& shape, uint64_t seed, bool positive) {
  Rng rng(seed);
  TensorF64 tensor(shape);
  for (double& x : tensor.data) x = positive ? rng.uniform() * 3 + 0.01 : rng.normal() * 2;
  return tensor;
}

bool needs_positive(OpKind kind) {
  return kind == OpKind::Log || kind == OpKind::Sqrt || kind == OpKind::Rsqrt ||
         kind == OpKind::Pow;
}

Attrs attrs_of(const OpDef& row) {
  Attrs attrs;
  attrs.axis = 1;
  if (row.has(AttrKey::Lo)) attrs.scalars = {-0.5, 0.75};
  return attrs;
}

Result<std::vector<TensorF64>> run(OpKind kind, const std::vector<TensorF64>& inputs,
                                   const Attrs& attrs) {
  GraphBuilder builder;
  std::vector<ValueId> operands;
  for (const TensorF64& input : inputs) {
    MIRAGE_TRY(const ValueId id, builder.input({DType::F64, input.shape}));
    operands.push_back(id);
  }
  MIRAGE_TRY(const ValueId result, builder.add(kind, operands, attrs));
  (void)result;
  MIRAGE_TRY(const GraphPtr graph, builder.finish());
  return interp::evaluate(*graph, inputs);
}

class EveryRow : public testing::TestWithParam<OpKind> {};

TEST_P(EveryRow, MapsAgreeWithLongDouble) {
  const OpDef& row = def(GetParam());
  if (row.form != Form::Map) return;
  const auto formula = map_oracles().find(row.kind);
  // Equal shapes, and a row and a column broadcast against each other.
  for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{{{3, 5}, {3, 5}}, {{3, 1}, {5}}}) {
    std::vector<TensorF64> inputs = {random(a, 1, needs_positive(row.kind))};
    if (row.arity == 2) inputs.push_back(random(b, 2, false));
    const auto outputs = run(row.kind, inputs, attrs_of(row));
    ASSERT_TRUE(outputs) << outputs.error().message;
    const TensorF64& y = (*outputs)[0];
    ASSERT_EQ(y.shape, (row.arity == 2 ? Shape{3, 5} : a));
    const size_t columns = static_cast<size_t>(y.shape[1]);
    for (size_t i = 0; i < y.size(); ++i) {
      const size_t r = i / columns, c = i % columns;
      const double x = a == y.shape ? inputs[0].data[i] : inputs[0].data[r];
      const double z = row.arity < 2 ? 0 : b == y.shape ? inputs[1].data[i] : inputs[1].data[c];
      const long double by_body = body(row, attrs_of(row), x, z);
      const long double exact = formula == map_oracles().end() ? by_body : formula->second(x, z);
      const double expected = static_cast<double>(exact);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(y.data[i])) << row.name << x;
        continue;
      }
      EXPECT_NEAR(y.data[i], expected, 4e-15 * std::fabs(expected) + 2e-15) << row.name << x;
    }
  }
}

TEST_P(EveryRow, MapsPropagateNaN) {
  const OpDef& row = def(GetParam());
  if (row.form != Form::Map) return;
  for (int64_t operand = 0; operand < row.arity; ++operand) {
    std::vector<TensorF64> inputs;
    for (int64_t k = 0; k < row.arity; ++k)
      inputs.push_back(TensorF64({1}, {k == operand ? std::nan("") : 0.5}));
    const auto outputs = run(row.kind, inputs, attrs_of(row));
    ASSERT_TRUE(outputs) << outputs.error().message;
    EXPECT_TRUE(std::isnan((*outputs)[0].data[0])) << row.name << " operand " << operand;
  }
}

TEST_P(EveryRow, ReductionsAgreeWithLoops) {
  const OpDef& row = def(GetParam());
  if (row.form != Form::Reduce) return;
  const TensorF64 x = random({2, 5, 3}, 4, false);
  for (int64_t axis : {0, 1, 2}) {
    Attrs attrs;
    attrs.axis = axis;
    const auto outputs = run(row.kind, {x}, attrs);
    ASSERT_TRUE(outputs) << outputs.error().message;
    std::map<size_t, std::vector<double>> groups;  // by index in the result
    for (size_t i = 0; i < 2; ++i)
      for (size_t j = 0; j < 5; ++j)
        for (size_t k = 0; k < 3; ++k) {
          const size_t at = axis == 0 ? j * 3 + k : axis == 1 ? i * 3 + k : i * 5 + j;
          groups[at].push_back(x.data[(i * 5 + j) * 3 + k]);
        }
    ASSERT_EQ((*outputs)[0].size(), groups.size());
    for (const auto& [at, group] : groups) {
      long double sum = 0, top = group[0];
      for (double value : group) {
        sum += value;
        top = std::max<long double>(top, value);
      }
      const long double expected = row.combine == Combine::Max ? top
                                   : row.combine == Combine::Mean
                                       ? sum / static_cast<long double>(group.size())
                                       : sum;
      EXPECT_NEAR((*outputs)[0].data[at], static_cast<double>(expected), 1e-14) << row.name;
    }
  }
}

TEST_P(EveryRow, EmptyReductions) {
  const OpDef& row = def(GetParam());
  if (row.form != Form::Reduce) return;
  const auto outputs = run(row.kind, {TensorF64(Shape{2, 0})}, attrs_of(row));
  ASSERT_TRUE(outputs) << outputs.error().message;
  for (double value : (*outputs)[0].data) {
    if (row.kind == OpKind::GaugeMax || row.combine == Combine::Sum) {
      EXPECT_EQ(value, 0) << row.name;
    } else if (row.combine == Combine::Mean) {
      EXPECT_TRUE(std::isnan(value)) << row.name;
    } else {
      EXPECT_EQ(value, -INFINITY) << row.name;
    }
  }
}

TEST(Contract, MatMulWithBroadcastBatches) {
  const TensorF64 a = random({2, 1, 3, 4}, 5, false), b = random({1, 2, 4, 5}, 6, false);
  const auto outputs = run(OpKind::MatMul, {a, b}, {});
  ASSERT_TRUE(outputs) << outputs.error().message;
  ASSERT_EQ((*outputs)[0].shape, (Shape{2, 2, 3, 5}));
  for (size_t p = 0; p < 2; ++p)
    for (size_t q = 0; q < 2; ++q)
      for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < 5; ++j) {
          long double sum = 0;
          for (size_t k = 0; k < 4; ++k)
            sum +=
                static_cast<long double>(a.data[(p * 3 + i) * 4 + k]) * b.data[(q * 4 + k) * 5 + j];
          EXPECT_NEAR((*outputs)[0].data[((p * 2 + q) * 3 + i) * 5 + j], static_cast<double>(sum),
                      1e-14);
        }
}

TEST(Moves, TransposeReshapeConcatNarrow) {
  const TensorF64 x = random({2, 3, 4}, 7, false);
  Attrs perm;
  perm.ints = {2, 0, 1};
  const auto transposed = run(OpKind::Transpose, {x}, perm);
  Attrs shape;
  shape.ints = {4, 6};
  const auto reshaped = run(OpKind::Reshape, {x}, shape);
  Attrs axis;
  axis.axis = 1;
  const auto joined = run(OpKind::Concat, {x, x}, axis);
  Attrs range = axis;
  range.ints = {1, 2};
  const auto cut = run(OpKind::Narrow, {x}, range);
  ASSERT_TRUE(transposed && reshaped && joined && cut);
  EXPECT_EQ((*reshaped)[0].data, x.data);
  for (size_t i = 0; i < 2; ++i)
    for (size_t j = 0; j < 3; ++j)
      for (size_t k = 0; k < 4; ++k) {
        const double value = x.data[(i * 3 + j) * 4 + k];
        EXPECT_EQ((*transposed)[0].data[(k * 2 + i) * 3 + j], value);
        EXPECT_EQ((*joined)[0].data[(i * 6 + j) * 4 + k], value);
        EXPECT_EQ((*joined)[0].data[(i * 6 + j + 3) * 4 + k], value);
        if (j >= 1) {
          EXPECT_EQ((*cut)[0].data[(i * 2 + j - 1) * 4 + k], value);
        }
      }
}

std::vector<OpKind> all_kinds() {
  std::vector<OpKind> kinds;
  for (const OpDef& row : op_table()) kinds.push_back(row.kind);
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryRow, testing::ValuesIn(all_kinds()),
                         [](const auto& row) { return std::string(def(row.param).name); });

}  // namespace
}  // namespace mirage::ir
