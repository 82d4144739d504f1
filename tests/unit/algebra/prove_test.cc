#include "algebra/prove.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "algebra/meaning.h"
#include "ir/load_file.h"
#include "ir/text.h"

namespace mirage::algebra {
namespace {

ir::GraphPtr parsed(std::string_view text) {
  auto graphs = ir::parse(text);
  EXPECT_TRUE(graphs) << (graphs ? "" : graphs.error().message) << "\n" << text;
  return graphs ? graphs->at(0) : nullptr;
}

Proof proof_of(std::string_view reference, std::string_view candidate) {
  const ir::GraphPtr a = parsed(reference), b = parsed(candidate);
  EXPECT_TRUE(a && b);
  if (!a || !b) return {};
  ProveOptions options;
  options.certificate = true;
  return prove_equal(*a, *b, options);
}

struct Case {
  const char* name;
  const char* reference;
  const char* candidate;
  Scope scope;
};

constexpr const char* kSum = "kernel(%x: f32[6,64]) { %y = sum %x axis=1 }";
constexpr const char* kMean = "kernel(%x: f32[6,64]) { %y = mean %x axis=1 }";
constexpr const char* kAttention =
    "kernel(%q: f32[8,16], %k: f32[16,64], %v: f32[64,32]) {"
    " %e = exp (matmul %q, %k) %o = matmul (div %e, sum %e axis=1), %v }";
constexpr const char* kRms =
    "kernel(%x: f32[6,64], %w: f32[64,10]) { %r = sqrt (mean (square %x) axis=1)"
    " %y = matmul (div %x, %r), %w }";

const Case kCases[] = {
    {"MatmulChainAssociates",
     "kernel(%a: f32[3,4], %b: f32[4,5], %c: f32[5,6]) {"
     " %y = matmul (matmul %a, %b), %c }",
     "kernel(%a: f32[3,4], %b: f32[4,5], %c: f32[5,6]) { %y = matmul %a, (matmul %b, %c) }",
     Scope::AllSizes},
    {"RowSumIsNotColumnSum", "kernel(%x: f32[8,8]) { %y = add %x, sum %x axis=0 }",
     "kernel(%x: f32[8,8]) { %y = add %x, sum %x axis=1 }", Scope::NotProved},
    {"TransposedSquareProduct",
     "kernel(%x: f32[8,8]) { %y = matmul %x, (transpose %x perm=[1,0]) }",
     "kernel(%x: f32[8,8]) { %t = matmul %x, (transpose %x perm=[1,0]) %y = transpose %t "
     "perm=[1,0] }",
     Scope::AllSizes},
    {"SquareIsNotItsTranspose", "kernel(%x: f32[8,8]) { %y = matmul %x, %x }",
     "kernel(%x: f32[8,8]) { %y = transpose (matmul %x, %x) perm=[1,0] }", Scope::NotProved},
    {"SafeSoftmax", "kernel(%x: f32[4,9]) { %e = exp %x %y = div %e, sum %e axis=1 }",
     "kernel(%x: f32[4,9]) { %e = exp (sub %x, max %x axis=1) %y = div %e, sum %e axis=1 }",
     Scope::AllSizes},
    {"GaugeMax", "kernel(%x: f32[4,9]) { %e = exp %x %y = div %e, sum %e axis=1 }",
     "kernel(%x: f32[4,9]) { %e = exp (sub %x, gauge_max %x axis=1) %y = div %e, sum %e axis=1 }",
     Scope::AllSizes},
    {"MeanByExtent", kMean, "kernel(%x: f32[6,64]) { %y = div (sum %x axis=1), extent %x axis=1 }",
     Scope::AllSizes},
    {"MeanByLiteral", kMean, "kernel(%x: f32[6,64]) { %y = mul (sum %x axis=1), 0.015625 }",
     Scope::TheseSizes},
    {"MeanByWrongExtent", kMean,
     "kernel(%x: f32[6,64]) { %y = div (sum %x axis=1), extent %x axis=0 }", Scope::NotProved},
    {"MeanByWrongLiteral", kMean, "kernel(%x: f32[6,64]) { %y = mul (sum %x axis=1), 0.03125 }",
     Scope::NotProved},
    {"SiluThroughExp", "kernel(%x: f32[4,9]) { %y = silu %x }",
     "kernel(%x: f32[4,9]) { %y = div %x, (add (exp (neg %x)), 1) }", Scope::AllSizes},
    {"TanhThroughSigmoid", "kernel(%x: f32[4,9]) { %y = tanh %x }",
     "kernel(%x: f32[4,9]) { %e = exp (mul %x, 2) %y = div (sub %e, 1), (add %e, 1) }",
     Scope::AllSizes},
    {"ReluClampMinMax", "kernel(%x: f32[4,9]) { %y = clamp %x lo=0 hi=6 }",
     "kernel(%x: f32[4,9]) { %y = minimum (relu %x), 6 }", Scope::AllSizes},
    {"ClampBoundsCount", "kernel(%x: f32[4,9]) { %y = clamp %x lo=0 hi=6 }",
     "kernel(%x: f32[4,9]) { %y = clamp %x lo=0 hi=5 }", Scope::NotProved},
    {"GeluArgumentsMatch", "kernel(%x: f32[4,9], %w: f32[4,9]) { %y = gelu (add %x, %w) }",
     "kernel(%x: f32[4,9], %w: f32[4,9]) { %y = gelu (add %w, %x) }", Scope::AllSizes},
    {"GeluIsNotSilu", "kernel(%x: f32[4,9]) { %y = gelu %x }",
     "kernel(%x: f32[4,9]) { %y = silu %x }", Scope::NotProved},
    {"PowSquare", "kernel(%x: f32[4,9]) { %y = pow %x, 2 }",
     "kernel(%x: f32[4,9]) { %y = square %x }", Scope::AllSizes},
    {"OutputOrder", "kernel(%x: f32[4,9]) { %a = exp %x %b = square %x return %a, %b }",
     "kernel(%x: f32[4,9]) { %a = exp %x %b = square %x return %b, %a }", Scope::AllSizes},
    {"ConcatMatmul",
     "kernel(%x: f32[4,9], %z: f32[4,3], %w: f32[12,5]) { %y = matmul (concat %x, %z axis=1), %w }",
     "kernel(%x: f32[4,9], %z: f32[4,3], %w: f32[12,5]) {"
     " %a = matmul %x, (narrow %w axis=0 start=0 length=9)"
     " %b = matmul %z, (narrow %w axis=0 start=9 length=3) %y = add %a, %b }",
     Scope::AllSizes},
    {"ConcatMatmulWrongPiece",
     "kernel(%x: f32[4,6], %z: f32[4,6], %w: f32[12,5]) { %y = matmul (concat %x, %z axis=1), %w }",
     "kernel(%x: f32[4,6], %z: f32[4,6], %w: f32[12,5]) {"
     " %a = matmul %x, (narrow %w axis=0 start=6 length=6)"
     " %b = matmul %z, (narrow %w axis=0 start=0 length=6) %y = add %a, %b }",
     Scope::NotProved},
    {"HeadsByReshape", "kernel(%x: f32[6,64]) { %y = sum (reshape %x shape=[6,4,16]) axis=2 }",
     "kernel(%x: f32[6,64]) { %t = transpose (reshape %x shape=[24,16]) perm=[1,0]"
     " %y = reshape (sum %t axis=0) shape=[6,4,1] }",
     Scope::AllSizes},
    {"ReshapeMixesAxes", "kernel(%x: f32[6,4]) { %y = reshape %x shape=[4,6] }",
     "kernel(%x: f32[6,4]) { %y = transpose %x perm=[1,0] }", Scope::NotProved},
    {"EpsIsNamed", "kernel(%x: f32[4,9]) { %y = rsqrt (add (square %x), 1e-6) }",
     "kernel(%x: f32[4,9]) { %y = rsqrt (add (square %x), 1e-5) }", Scope::NotProved},

    // --- blocks
    {"SplitSum", kSum,
     "kernel(%x: f32[6,64]) { %y = block(%x) axes(m: grid 3, k: loop 8) {"
     " %a = load %x [m, k] %s = accum sum (sum %a axis=1) store %s [m, .] } }",
     Scope::AllSizes},
    {"TwoLoops", kSum,
     "kernel(%x: f32[6,64]) { %y = block(%x) axes(m: grid 3, k: loop 4, l: loop 2) {"
     " %a = load %x [m, k/l] %s = accum sum (sum %a axis=1) store %s [m, .] } }",
     Scope::AllSizes},
    {"AccumulatedInvariant", kSum,
     "kernel(%x: f32[6,64]) { %y = block(%x) axes(m: grid 3, k: loop 8) {"
     " %a = load %x [m, .] %s = accum sum (sum %a axis=1) store %s [m, .] } }",
     Scope::NotProved},
    {"MeanOfMeans", kMean,
     "kernel(%x: f32[6,64]) { %y = block(%x) axes(m: grid 3, k: loop 8) {"
     " %a = load %x [m, k] %s = accum mean (mean %a axis=1) store %s [m, .] } }",
     Scope::AllSizes},
    {"TileExtentIsNotAxisExtent", kMean,
     "kernel(%x: f32[6,64]) { %y = block(%x) axes(m: grid 3, k: loop 8) {"
     " %a = load %x [m, k] %n = extent %a axis=1 %s = accum sum (div (sum %a axis=1), %n)"
     " store %s [m, .] } }",
     Scope::NotProved},
    {"ExtentOfTheWholeOperand", kMean,
     "kernel(%x: f32[6,64]) { %y = block(%x) axes(m: grid 3, k: loop 8) {"
     " %n = extent %x axis=1 %a = load %x [m, k] %s = accum sum (sum %a axis=1)"
     " store (div %s, %n) [m, .] } }",
     Scope::AllSizes},
    {"FusedRmsMatmul", kRms,
     "kernel(%x: f32[6,64], %w: f32[64,10]) { %y = block(%x, %w) axes(m: grid 3, n: grid 5, k: "
     "loop 8) {"
     " %n1 = extent %x axis=1 %a = load %x [m, k] %b = load %w [k, n] %s = accum sum (matmul %a, "
     "%b)"
     " %q = accum sum (sum (square %a) axis=1) store (div %s, sqrt (div %q, %n1)) [m, n] } }",
     Scope::AllSizes},
    {"FusedRmsMatmulUneven", kRms,
     "kernel(%x: f32[6,64], %w: f32[64,10]) { %y = block(%x, %w) axes(m: grid 3, n: grid 4, k: "
     "loop 7) {"
     " %n1 = extent %x axis=1 %a = load %x [m, k] %b = load %w [k, n] %s = accum sum (matmul %a, "
     "%b)"
     " %q = accum sum (sum (square %a) axis=1) store (div %s, sqrt (div %q, %n1)) [m, n] "
     "shape=[6,10] } }",
     Scope::AllSizes},
    {"UnevenMeanOfMeans", kMean,
     "kernel(%x: f32[6,64]) { %y = block(%x) axes(k: loop 7) {"
     " %a = load %x [., k] %s = accum sum (mean %a axis=1) store (div %s, 7) [., .] } }",
     Scope::NotProved},
    {"MissingSquare", kRms,
     "kernel(%x: f32[6,64], %w: f32[64,10]) { %y = block(%x, %w) axes(m: grid 3, n: grid 5, k: "
     "loop 8) {"
     " %n1 = extent %x axis=1 %a = load %x [m, k] %b = load %w [k, n] %s = accum sum (matmul %a, "
     "%b)"
     " %q = accum sum (sum %a axis=1) store (div %s, sqrt (div %q, %n1)) [m, n] } }",
     Scope::NotProved},
    {"SplitKeys", kAttention,
     "kernel(%q: f32[8,16], %k: f32[16,64], %v: f32[64,32]) {"
     " %o, %l = block(%q, %k, %v) axes(s: grid 4, i: loop 4) {"
     " %a = load %q [., .] %b = load %k [., s/i] %c = load %v [s/i, .] %e = exp (matmul %a, %b)"
     " %p = accum sum (matmul %e, %c) %t = accum sum (sum %e axis=1) store %p [., s] store %t [., "
     "s] }"
     " %p2 = sum (reshape %o shape=[8,4,32]) axis=1"
     " %y = div (reshape %p2 shape=[8,32]), sum %l axis=1 }",
     Scope::AllSizes},
    {"FlashAttentionWithGauge", kAttention,
     "kernel(%q: f32[8,16], %k: f32[16,64], %v: f32[64,32]) {"
     " %y = block(%q, %k, %v) axes(m: grid 2, i: loop 8) {"
     " %a = load %q [m, .] %b = load %k [., i] %c = load %v [i, .] %s = matmul %a, %b"
     " %m, %d = running_gauge %s axis=1 %e = exp (sub %s, %m) %r = exp %d"
     " %o = accum_rescale (matmul %e, %c), %r %l = accum_rescale (sum %e axis=1), %r"
     " store (div %o, %l) [m, .] } }",
     Scope::AllSizes},
    {"FlashAttentionWithMax", kAttention,
     "kernel(%q: f32[8,16], %k: f32[16,64], %v: f32[64,32]) {"
     " %y = block(%q, %k, %v) axes(m: grid 2, i: loop 8) {"
     " %a = load %q [m, .] %b = load %k [., i] %c = load %v [i, .] %s = matmul %a, %b"
     " %m, %d = running_max %s axis=1 %e = exp (sub %s, %m) %r = exp %d"
     " %o = accum_rescale (matmul %e, %c), %r %l = accum_rescale (sum %e axis=1), %r"
     " store (div %o, %l) [m, .] } }",
     Scope::AllSizes},
    {"FlashAttentionWithoutRescale", kAttention,
     "kernel(%q: f32[8,16], %k: f32[16,64], %v: f32[64,32]) {"
     " %y = block(%q, %k, %v) axes(m: grid 2, i: loop 8) {"
     " %a = load %q [m, .] %b = load %k [., i] %c = load %v [i, .] %s = matmul %a, %b"
     " %m, %d = running_gauge %s axis=1 %e = exp (sub %s, %m) %r = exp %d"
     " %o = accum_rescale (matmul %e, %c), %r %l = accum sum (sum %e axis=1)"
     " store (div %o, %l) [m, .] } }",
     Scope::NotProved},
    {"FlashAttentionWrongWeight", kAttention,
     "kernel(%q: f32[8,16], %k: f32[16,64], %v: f32[64,32]) {"
     " %y = block(%q, %k, %v) axes(m: grid 2, i: loop 8) {"
     " %a = load %q [m, .] %b = load %k [., i] %c = load %v [i, .] %s = matmul %a, %b"
     " %m, %d = running_gauge %s axis=1 %e = exp (sub %s, %m) %r = exp (mul %d, 2)"
     " %o = accum_rescale (matmul %e, %c), %r %l = accum_rescale (sum %e axis=1), %r"
     " store (div %o, %l) [m, .] } }",
     Scope::NotProved},
    {"UnnormalisedWithFinalMaximum", "kernel(%x: f32[8,64]) { %y = sum (exp %x) axis=1 }",
     "kernel(%x: f32[8,64]) { %y = block(%x) axes(m: grid 2, i: loop 8) {"
     " %s = load %x [m, i] %m, %d = running_gauge %s axis=1 %e = exp (sub %s, %m)"
     " %l = accum_rescale (sum %e axis=1), exp %d %f = accum max %m"
     " store (mul %l, exp %f) [m, .] } }",
     Scope::AllSizes},
    {"OneAxisTwoDimensions", "kernel(%q: f32[8,8], %k: f32[8,16]) { %y = matmul %q, %k }",
     "kernel(%q: f32[8,8], %k: f32[8,16]) { %y = block(%q, %k) axes(y: grid 8) {"
     " %a = load %q [y, .] %b = load %k [y, .] store (mul (sum %a axis=1), %b) [y, .] } }",
     Scope::NotProved},
    {"OneLoopTwoDimensionsIndependent",
     "kernel(%x: f32[4,16], %z: f32[4,32]) { %y = add (sum %x axis=1), sum %z axis=1 }",
     "kernel(%x: f32[4,16], %z: f32[4,32]) { %y = block(%x, %z) axes(i: loop 4) {"
     " %a = load %x [., i] %b = load %z [., i]"
     " %s = accum sum (add (sum %a axis=1), sum %b axis=1) store %s [., .] } }",
     Scope::AllSizes},
    {"OneLoopTwoDimensionsTied",
     "kernel(%x: f32[4,16], %z: f32[4,32]) { %y = mul (sum %x axis=1), sum %z axis=1 }",
     "kernel(%x: f32[4,16], %z: f32[4,32]) { %y = block(%x, %z) axes(i: loop 4) {"
     " %a = load %x [., i] %b = load %z [., i]"
     " %s = accum sum (mul (sum %a axis=1), sum %b axis=1) store %s [., .] } }",
     Scope::NotProved},
    {"CandidateNeedsEqualDimensions",
     "kernel(%x: f32[8,8]) { %y = add (sum (sum %x axis=1) axis=0), sum (sum %x axis=0) axis=1 }",
     "kernel(%x: f32[8,8]) { %t = transpose %x perm=[1,0] %z = add %x, %t"
     " %y = sum (sum %z axis=0) axis=1 }",
     Scope::TheseSizes},
};

class Prove : public ::testing::TestWithParam<Case> {};

TEST_P(Prove, ExpectedScope) {
  const Case& c = GetParam();
  const Proof proof = proof_of(c.reference, c.candidate);
  EXPECT_EQ(proof.scope, c.scope) << proof.reason << "\n" << proof.certificate;
  if (c.scope == Scope::NotProved && std::string(c.name) != "UnevenMeanOfMeans") {
    EXPECT_EQ(proof.reason, "output 0: normal forms differ");
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Prove, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ProveOutputs, OrderIsReported) {
  const Proof proof = proof_of("kernel(%x: f32[4,9]) { %a = exp %x %b = square %x return %a, %b }",
                               "kernel(%x: f32[4,9]) { %a = exp %x %b = square %x return %b, %a }");
  EXPECT_EQ(proof.output_order, (std::vector<size_t>{1, 0}));
}

TEST(ProveOutputs, UninterpretedFunctionsAreListed) {
  const Proof proof = proof_of("kernel(%x: f32[4,9]) { %y = gelu %x %z = log %x return %y, %z }",
                               "kernel(%x: f32[4,9]) { %y = gelu %x %z = log %x return %y, %z }");
  EXPECT_EQ(proof.uninterpreted, (std::vector<std::string>{"erf", "log"}));
}

TEST(ProveOutputs, DifferentInputsAreNotProved) {
  EXPECT_EQ(proof_of("kernel(%x: f32[4,9]) { %y = exp %x }", "kernel(%x: f32[9,4]) { %y = exp %x }")
                .scope,
            Scope::NotProved);
  EXPECT_EQ(proof_of("kernel(%x: f32[4,9]) { %y = exp %x }",
                     "kernel(%x: f32[4,9], %z: f32[1]) { %y = exp %x }")
                .scope,
            Scope::NotProved);
}

TEST(ProveOutputs, InfiniteLiteralIsAReasonNotACrash) {
  const Proof proof = proof_of("kernel(%x: f32[4]) { %y = maximum %x, -inf }",
                               "kernel(%x: f32[4]) { %y = maximum %x, -inf }");
  EXPECT_EQ(proof.scope, Scope::NotProved);
  EXPECT_NE(proof.reason.find("not finite"), std::string::npos) << proof.reason;
}

struct Published {
  const char* file;
  const char* program;  // of examples/
  size_t count;
  bool is_equal;
};

class PublishedGraphs : public ::testing::TestWithParam<Published> {};

TEST_P(PublishedGraphs, NormalFormsDecide) {
  const char* shared = std::getenv("MIRAGE_SHARED");
  const std::string folder = shared ? shared : MIRAGE_SOURCE_DIR "/../shared";
  const std::string path = folder + "/data/mugraphs/" + GetParam().file + ".json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path << ": set MIRAGE_SHARED";
  const auto reference =
      ir::load_graph(std::string(MIRAGE_SOURCE_DIR "/examples/") + GetParam().program + ".mu");
  ASSERT_TRUE(reference) << reference.error().message;
  const auto graphs = ir::load_graphs(path);
  ASSERT_TRUE(graphs) << graphs.error().message;
  EXPECT_EQ(graphs->size(), GetParam().count);
  for (size_t i = 0; i < graphs->size(); ++i) {
    const Proof proof = prove_equal(**reference, *(*graphs)[i]);
    EXPECT_EQ(proof.scope, GetParam().is_equal ? Scope::AllSizes : Scope::NotProved)
        << path << "#" << i << ": " << proof.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, PublishedGraphs,
    ::testing::Values(
        Published{"rmsnorm_bs1", "rmsnorm_bs1", 18, true},
        Published{"rmsnorm_bs8", "rmsnorm_bs8", 20, true}, Published{"lora", "lora", 4, true},
        Published{"gated_mlp", "gated_mlp", 32, true}, Published{"gqa_bs1", "gqa_bs1", 28, true},
        Published{"gqa_bs8", "gqa_bs8", 10, true}, Published{"mqa_bs1", "mqa_bs1", 12, true},
        Published{"mha_bs1", "mha_bs1", 21, true}, Published{"mha_bs8", "mha_bs8", 38, true},
        Published{"ntrans_bs1", "ntrans_bs1", 9, true},
        Published{"qwen_norm_linear", "qwen_norm_linear", 88, true},
        Published{"qknorm_gqa_bs1", "qknorm_qv_bs1", 190, false}),
    [](const auto& test) { return std::string(test.param.file); });

}  // namespace
}  // namespace mirage::algebra
