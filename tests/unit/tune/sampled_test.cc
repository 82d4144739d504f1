#include "tune/sampled.h"

#include <gtest/gtest.h>

#include <cmath>

#include "codegen/cpu/emit.h"
#include "ir/text.h"
#include "lower/gauge.h"
#include "lower/lower.h"
#include "runtime/cpu/compile.h"
#include "tune/check.h"
#include "tune/inputs.h"
#include "tune/lanes.h"

namespace mirage::tune {
namespace {

ir::GraphPtr parsed(const std::string& signature, const std::string& body) {
  const auto graphs = ir::parse("kernel @k" + signature + " {\n" + body + "\n}\n");
  EXPECT_TRUE(graphs) << graphs.error().message << "\n" << body;
  return (*graphs)[0];
}

std::vector<ReferenceOutput> sharpened(const ir::GraphPtr& graph,
                                       std::span<const HostTensor> inputs) {
  const ir::GraphPtr safe = *lower::make_safe(graph);
  std::vector<ReferenceOutput> reference = *reference_of(*safe, inputs);
  sharpen(*safe, inputs, {}, reference);
  return reference;
}

Result<Deviation> checked(const ir::GraphPtr& graph, std::span<const HostTensor> inputs,
                          std::span<const ReferenceOutput> reference) {
  MIRAGE_TRY(const lower::Program program, lower::lower(graph, *lower::target_named("native")));
  MIRAGE_TRY(codegen::SourceUnit unit, codegen::emit_cpu(program));
  // What matters here is the text, not its speed.
  for (std::string& option : unit.options)
    if (option == "-O3") option = "-O1";
  runtime::CompileOptions options;
  options.cache_dir = MIRAGE_BINARY_DIR "/kernel-cache";
  MIRAGE_TRY(const auto executable, runtime::compile(unit, options));
  return run_and_compare(*executable, *graph, inputs, reference, Family::Ordinary, 1);
}

/// A program, other ways to compute it, and wrong ones.
struct Case {
  const char* name;
  const char* signature;
  std::vector<const char*> right, wrong;
  /// Bound and size may have this ratio at most, for at least nine entries in ten.
  double sharpness;
};

const Case kCases[] = {
    {"mlp3",
     "(%x: f32[8,1024], %w1: f32[1024,1024], %w2: f32[1024,1024], %w3: f32[1024,1024])"
     " -> f32[8,1024]",
     {"%y = matmul (mul (silu (matmul %x, %w1)), (matmul %x, %w2)), %w3\nreturn %y",
      // Products in two parts.
      "%g = mul (silu (matmul %x, %w1)), (matmul %x, %w2)\n"
      "%y = add (matmul (narrow %g axis=1 start=0 length=100), "
      "(narrow %w3 axis=0 start=0 length=100)), (matmul (narrow %g axis=1 start=100 length=924), "
      "(narrow %w3 axis=0 start=100 length=924))\nreturn %y"},
     {"%y = matmul (mul (silu (matmul %x, %w1)), (matmul %x, %w1)), %w3\nreturn %y",
      "%y = matmul (mul (matmul %x, %w1), (matmul %x, %w2)), %w3\nreturn %y",
      "%y = mul (matmul (mul (silu (matmul %x, %w1)), (matmul %x, %w2)), %w3), 1.0005\nreturn %y",
      // The last term is lost, in the first and in the last product.
      "%a = matmul (narrow %x axis=1 start=0 length=1023), (narrow %w1 axis=0 start=0 length=1023)"
      "\n%y = matmul (mul (silu %a), (matmul %x, %w2)), %w3\nreturn %y",
      "%g = mul (silu (matmul %x, %w1)), (matmul %x, %w2)\n%y = matmul "
      "(narrow %g axis=1 start=0 length=1023), (narrow %w3 axis=0 start=0 length=1023)\nreturn "
      "%y"},
     5e-4},
    {"rms_gated_mlp",
     "(%x: f16[8,512], %w1: f16[512,1024], %w2: f16[512,1024]) -> f16[8,1024]",
     {"%n = div %x, sqrt (mean (square %x) axis=1)\n"
      "%y = mul (silu (matmul %n, %w1)), (matmul %n, %w2)\nreturn %y",
      // The norm after the products.
      "%r = sqrt (mean (square %x) axis=1)\n"
      "%y = mul (silu (div (matmul %x, %w1), %r)), (div (matmul %x, %w2), %r)\nreturn %y"},
     {"%y = mul (silu (matmul %x, %w1)), (matmul %x, %w2)\nreturn %y",
      "%n = div %x, sqrt (mean (square %x) axis=1)\n"
      "%y = mul (matmul %n, %w1), (matmul %n, %w2)\nreturn %y",
      "%n = div %x, sqrt (mean (square %x) axis=1)\n"
      "%y = mul (mul (silu (matmul %n, %w1)), (matmul %n, %w2)), 1.1\nreturn %y",
      "%n = div %x, sqrt (mean (square %x) axis=1)\n%y = mul (silu (matmul "
      "(narrow %n axis=1 start=0 length=511), (narrow %w1 axis=0 start=0 length=511))), "
      "(matmul %n, %w2)\nreturn %y"},
     0.25},
    {"attention",
     "(%q: f16[16,64], %k: f16[64,256], %v: f16[256,64]) -> f16[16,64]",
     {"%p = exp (div (matmul %q, %k), 8)\n%y = matmul (div %p, (sum %p axis=1)), %v\nreturn %y",
      "%p = exp (div (matmul %q, %k), 8)\n%y = div (matmul %p, %v), (sum %p axis=1)\nreturn %y"},
     {"%p = exp (div (matmul %q, %k), 9)\n%y = matmul (div %p, (sum %p axis=1)), %v\nreturn %y",
      "%p = exp (div (matmul %q, %k), 8)\n%z = narrow %p axis=1 start=0 length=224\n"
      "%y = div (matmul %p, %v), (sum %z axis=1)\nreturn %y"},
     0.25},
    // All terms of one sign and errors that they share: these add up, and not in quadrature.
    {"shared_errors",
     "(%x: f16[64,1024]) -> f16[64,1]",
     {"%p = exp %x\n%y = sum (div %p, (sum %p axis=1)) axis=1\nreturn %y"},
     {"%p = exp %x\n%y = mul (sum (div %p, (sum %p axis=1)) axis=1), 1.05\nreturn %y"},
     0.05},
    // The mean is subtracted late, where the square of it is large.
    {"variance",
     "(%x: f32[16,512]) -> f32[16,1]",
     {"%s = add %x, 30\n%y = mean (square (sub %s, (mean %s axis=1))) axis=1\nreturn %y",
      "%s = add %x, 30\n%y = sub (mean (square %s) axis=1), (square (mean %s axis=1))\nreturn %y"},
     {"%y = mul (mean (square %x) axis=1), 1.2\nreturn %y"},
     0.1},
};

class Sampled : public testing::TestWithParam<Case> {};

TEST_P(Sampled, RightKernelsPassAndWrongOnesDoNot) {
  const Case& row = GetParam();
  const ir::GraphPtr program = parsed(row.signature, row.right[0]);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const auto inputs = *make_inputs(*program, Family::Ordinary, seed);
    const auto reference = sharpened(program, inputs);
    const double size = mean_size(reference[0].values);
    int64_t sharp = 0;
    for (double bound : reference[0].bounds) sharp += bound < row.sharpness * size ? 1 : 0;
    EXPECT_GE(sharp * 10, static_cast<int64_t>(reference[0].bounds.size()) * 9);
    for (const char* body : row.right) {
      const auto deviation = checked(parsed(row.signature, body), inputs, reference);
      ASSERT_TRUE(deviation) << deviation.error().message << "\n" << body;
      // Far from the edge, or another machine's rounding might be beyond it.
      EXPECT_LT(deviation->max_of_bound, 0.3) << body;
    }
    for (const char* body : row.wrong) {
      const auto deviation = checked(parsed(row.signature, body), inputs, reference);
      ASSERT_FALSE(deviation) << deviation->max_of_bound << " of the bound\n" << body;
      EXPECT_EQ(deviation.error().code, Code::Mismatch) << deviation.error().message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Sampled, testing::ValuesIn(kCases),
                         [](const auto& row) { return row.param.name; });

TEST(SampledBounds, AndValuesAreTheSameWithAnyNumberOfThreads) {
  const ir::GraphPtr program = parsed(
      "(%x: f16[300,64], %w: f16[64,256], %v: f16[256,5], %b: f16[256]) -> f16[300,5], f16[300,1]",
      "%h = silu (add (matmul %x, %w), %b)\n"
      "%s = sum %h axis=1\n"
      "return (matmul %h, %v), %s");
  const auto inputs = *make_inputs(*program, Family::Ordinary, 1);
  const ir::GraphPtr safe = *lower::make_safe(program);
  std::vector<ReferenceOutput> of[2];
  for (int threads : {1, 4}) {
    auto& reference = of[threads / 4];
    reference = *reference_of(*safe, inputs, {.threads = threads});
    sharpen(*safe, inputs, {.threads = threads}, reference);
  }
  ASSERT_EQ(of[0].size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(of[0][i].values, of[1][i].values);
    EXPECT_EQ(of[0][i].bounds, of[1][i].bounds);
  }
}

TEST(SampledBounds, AreAskedForWhereTheOthersAreWide) {
  ReferenceOutput output;
  output.values = {2, -2, 2, -2};
  output.bounds = {1, 1e-3, 1e-3, 1};
  EXPECT_FALSE(wants_samples(std::span(&output, 1)));
  output.bounds[1] = 0.03;
  EXPECT_TRUE(wants_samples(std::span(&output, 1)));
}

// 1 / x where x may be nothing but rounding; 65504 + 65504 in f16.
TEST(SampledBounds, NoClaimNearAPoleOrAfterOverflow) {
  LanesDomain domain(kSigmas);
  Lanes near_zero = domain.constant(1e-3), far = domain.constant(1);
  for (size_t i = 1; i < near_zero.size(); ++i) {
    near_zero[i] += i % 2 == 0 ? 2e-4 : -2e-4;
    far[i] += i % 2 == 0 ? 2e-4 : -2e-4;
  }
  EXPECT_TRUE(std::isnan(domain.div(far, near_zero)[1]));
  EXPECT_TRUE(std::isnan(domain.apply(ir::Fn::Log, near_zero)[1]));
  EXPECT_NEAR(domain.div(far, far)[1], 1, 1e-12);

  const ir::GraphPtr sum = parsed("(%x: f16[8]) -> f16[8]", "%y = add %x, %x\nreturn %y");
  std::vector<HostTensor> inputs;
  inputs.push_back(*HostTensor::make({ir::DType::F16, {8}}));
  inputs[0].assign({65504, 1, 1, 1, 1, 1, 1, 1});
  const auto reference = sharpened(sum, inputs);
  EXPECT_TRUE(std::isinf(reference[0].bounds[0]));
  EXPECT_LT(reference[0].bounds[1], 0.1);
}

TEST(SampledBounds, ReductionsOverNothing) {
  const ir::GraphPtr program =
      parsed("(%x: f32[0,3]) -> f32[1,3], f32[1,3]",
             "%e = exp %x\n%m = max %e axis=0\n%s = sum %e axis=0\nreturn %m, %s");
  const auto inputs = *make_inputs(*program, Family::Ordinary, 1);
  const auto sampled = sharpened(program, inputs);
  EXPECT_EQ(sampled[0].values, std::vector<double>(3, -INFINITY));
  EXPECT_EQ(sampled[1].values, std::vector<double>(3, 0.0));
}

TEST(SampledBounds, NeverAboveTheOthersAndLeftAloneAtTheDeadline) {
  const ir::GraphPtr program = parsed(kCases[0].signature, kCases[0].right[0]);
  const auto inputs = *make_inputs(*program, Family::Ordinary, 1);
  const auto plain = *reference_of(*program, inputs);
  const auto sampled = sharpened(program, inputs);
  for (size_t i = 0; i < plain[0].bounds.size(); ++i)
    EXPECT_LE(sampled[0].bounds[i], plain[0].bounds[i]);
  auto late = plain;
  ReferenceOptions options;
  options.deadline = Deadline::in_seconds(0);
  sharpen(*program, inputs, options, late);
  EXPECT_EQ(late[0].bounds, plain[0].bounds);
}

}  // namespace
}  // namespace mirage::tune
