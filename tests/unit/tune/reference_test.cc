#include "tune/reference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/builder.h"
#include "tune/bounded.h"
#include "tune/inputs.h"

namespace mirage::tune {
namespace {

using ir::Attrs;
using ir::DType;
using ir::OpKind;

Attrs axis(int64_t at) {
  Attrs attrs;
  attrs.axis = at;
  return attrs;
}

/// softmax(q k) v with a shift; rounded to f32 after every step when asked.
struct Attention {
  int64_t m = 5, d = 16, n = 37, e = 8;
  ir::GraphPtr graph;

  explicit Attention(DType dtype) {
    ir::GraphBuilder b;
    const auto q = *b.input({dtype, {m, d}}), k = *b.input({dtype, {d, n}}),
               v = *b.input({dtype, {n, e}});
    const auto s = *b.add(OpKind::MatMul, {q, k});
    const auto top = *b.add(OpKind::GaugeMax, {s}, axis(1));
    const auto p = *b.add(OpKind::Exp, {*b.add(OpKind::Sub, {s, top})});
    const auto l = *b.add(OpKind::Sum, {p}, axis(1));
    (void)*b.add(OpKind::Div, {*b.add(OpKind::MatMul, {p, v}), l});
    graph = *b.finish();
  }

  /// The same in float arithmetic, divided before the product: another association.
  std::vector<double> in_float(const std::vector<HostTensor>& inputs) const {
    const auto q = inputs[0].to_doubles(), k = inputs[1].to_doubles(), v = inputs[2].to_doubles();
    const auto at = [](const std::vector<double>& x, int64_t i) {
      return static_cast<float>(x[static_cast<size_t>(i)]);
    };
    std::vector<double> out;
    for (int64_t row = 0; row < m; ++row) {
      std::vector<float> s(static_cast<size_t>(n), 0.0f);
      float top = -INFINITY, l = 0;
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = 0; i < d; ++i)
          s[static_cast<size_t>(j)] += at(q, row * d + i) * at(k, i * n + j);
        top = std::fmax(top, s[static_cast<size_t>(j)]);
      }
      for (float& x : s) l += x = std::exp(x - top);
      for (int64_t c = 0; c < e; ++c) {
        float sum = 0;
        for (int64_t j = 0; j < n; ++j) sum += s[static_cast<size_t>(j)] / l * at(v, j * e + c);
        out.push_back(static_cast<double>(sum));
      }
    }
    return out;
  }
};

TEST(Reference, FloatArithmeticStaysWithinItsBounds) {
  const Attention attention(DType::F32);
  for (Family family : {Family::Ordinary, Family::Large, Family::Equal, Family::Dominant,
                        Family::Alternating, Family::Zeros}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const auto inputs = *make_inputs(*attention.graph, family, seed);
      ReferenceOptions options;
      options.is_random = is_random(family);
      const auto reference = *reference_of(*attention.graph, inputs, options);
      const auto found = attention.in_float(inputs);
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_LE(std::fabs(found[i] - reference[0].values[i]), reference[0].bounds[i])
            << name_of(family) << " seed " << seed << " entry " << i;
    }
  }
}

// A bound that lets everything pass is worthless.
TEST(Reference, BoundsAreTight) {
  const Attention attention(DType::F32);
  const auto inputs = *make_inputs(*attention.graph, Family::Ordinary, 3);
  const auto reference = *reference_of(*attention.graph, inputs, {});
  for (size_t i = 0; i < reference[0].values.size(); ++i)
    EXPECT_LT(reference[0].bounds[i], 1e-3) << i;
}

/// The error that `error` before a function may leave after it, and the one that it leaves at most.
void expect_bound_near_the_truth(OpKind kind, double x, double error, double (*f)(double)) {
  BoundedDomain domain(0x1p-24);
  const Bounded arg{x, 4 * std::fabs(x) + 1, error};
  const Bounded found = ir::eval_map(kind, domain, {}, std::span<const Bounded>(&arg, 1));
  double most = 0;
  for (int i = -100; i <= 100; ++i)
    most = std::fmax(most, std::fabs(f(x + error * i / 100) - f(x)));
  EXPECT_NEAR(found.value, f(x), 1e-12 * std::fabs(f(x))) << x;
  EXPECT_GE(found.error, most) << "at " << x << " with error " << error;
  const double roundings = 1e-6 * (1 + std::fabs(x));
  EXPECT_LE(found.error, 4 * most + error + roundings) << "at " << x << " with error " << error;
}

// As 1 / (1 + exp(-x)) an error above log 2 would bound nothing.
TEST(Reference, SigmoidAndSiluAreNeverSteep) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  for (double x : {-120.0, -89.0, -30.0, -3.0, -0.5, 0.0, 0.7, 2.0, 40.0, 200.0})
    for (double error : {0.0, 1e-6, 0.01, 0.9, 5.0}) {
      expect_bound_near_the_truth(OpKind::Sigmoid, x, error, sigmoid);
      expect_bound_near_the_truth(OpKind::Silu, x, error, silu);
    }
}

TEST(Reference, MatmulBroadcastsBatches) {
  ir::GraphBuilder b;
  const auto x = *b.input({DType::F32, {2, 1, 1, 2}}), w = *b.input({DType::F32, {1, 3, 2, 1}});
  (void)*b.add(OpKind::MatMul, {x, w});
  const auto graph = *b.finish();
  std::vector<HostTensor> inputs;
  inputs.push_back(*HostTensor::make({DType::F32, {2, 1, 1, 2}}));
  inputs.push_back(*HostTensor::make({DType::F32, {1, 3, 2, 1}}));
  inputs[0].assign({1, 2, 3, 4});
  inputs[1].assign({1, 10, 2, 20, 3, 30});
  ReferenceOptions options;
  options.threads = 4;
  const auto reference = *reference_of(*graph, inputs, options);
  EXPECT_EQ(reference[0].type.shape, (ir::Shape{2, 3, 1, 1}));
  EXPECT_EQ(reference[0].values, (std::vector<double>{21, 42, 63, 43, 86, 129}));
}

TEST(Reference, MovesAndReductions) {
  ir::GraphBuilder b;
  const auto x = *b.input({DType::F64, {2, 3}});
  Attrs perm, narrow = axis(0), shape;
  perm.ints = {1, 0};
  narrow.ints = {1, 2};
  shape.ints = {4};
  const auto t = *b.add(OpKind::Transpose, {x}, perm);
  const auto last = *b.add(OpKind::Narrow, {t}, narrow);
  const auto flat = *b.add(OpKind::Reshape, {last}, shape);
  const auto both = *b.add(OpKind::Concat, {flat, flat}, axis(0));
  const auto mean = *b.add(OpKind::Mean, {x}, axis(1)), max = *b.add(OpKind::Max, {x}, axis(0));
  const auto graph = *b.finish(std::vector<ir::ValueId>{both, mean, max});
  std::vector<HostTensor> inputs;
  inputs.push_back(*HostTensor::make({DType::F64, {2, 3}}));
  inputs[0].assign({1, 2, 3, 4, 5, 9});
  const auto reference = *reference_of(*graph, inputs, {});
  EXPECT_EQ(reference[0].values, (std::vector<double>{2, 5, 3, 9, 2, 5, 3, 9}));
  EXPECT_EQ(reference[1].values, (std::vector<double>{2, 6}));
  EXPECT_EQ(reference[2].values, (std::vector<double>{4, 5, 9}));
}

// 65504 + 65504 is not an f16: nothing can be claimed about a kernel that stores the sum.
TEST(Reference, NoClaimAfterOverflow) {
  ir::GraphBuilder b;
  const auto x = *b.input({DType::F16, {1}});
  (void)*b.add(OpKind::Add, {x, x});
  const auto graph = *b.finish();
  std::vector<HostTensor> inputs;
  inputs.push_back(*HostTensor::make({DType::F16, {1}}));
  inputs[0].assign({65504});
  EXPECT_TRUE(std::isinf((*reference_of(*graph, inputs, {}))[0].bounds[0]));
}

}  // namespace
}  // namespace mirage::tune
