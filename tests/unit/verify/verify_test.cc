#include "verify/verify.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "unit/verify/support.h"
#include "verify/replay.h"

namespace mirage::verify {
namespace {

Result<Verdict> compare(const std::string& inputs, const std::string& a, const std::string& b) {
  return verify(*graph_of(inputs, a), *graph_of(inputs, b));
}

struct Pair {
  const char* name;
  const char* inputs;
  const char* reference;
  const char* candidate;
  Answer answer;
};

class Pairs : public testing::TestWithParam<Pair> {};

TEST_P(Pairs, Answer) {
  const Pair& p = GetParam();
  const auto verdict = compare(p.inputs, p.reference, p.candidate);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->answer, p.answer) << to_string(*verdict);
  EXPECT_EQ(verdict->witness.has_value(), verdict->answer == Answer::Different);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Pairs,
    testing::Values(
        Pair{"silu_by_hand", "%x: f32[8,16]", "return (silu %x)",
             "%e = exp %x\nreturn (div (mul %x, %e), (add 1, %e))", Answer::Equivalent},
        Pair{"silu_is_not_x_exp", "%x: f32[8,16]", "return (silu %x)", "return (mul %x, (exp %x))",
             Answer::Different},
        Pair{"gelu_is_not_silu_exp", "%x: f32[8,16]", "return (gelu %x)",
             "return (mul (silu %x), (exp %x))", Answer::Different},
        Pair{"nested_exp_is_not_constant", "%x: f32[8,16]", "return (exp (exp %x))",
             "return (exp (exp (mul %x, 2)))", Answer::Different},
        Pair{"clamp_bounds", "%x: f32[8,16]", "return (clamp %x lo=-1 hi=1)",
             "return (clamp %x lo=-1 hi=2)", Answer::Different},
        Pair{"safe_softmax", "%x: f32[8,16]",
             "%m = max %x axis=1\n%e = exp (sub %x, %m)\nreturn (div %e, (sum %e axis=1))",
             "%e = exp %x\nreturn (div %e, (sum %e axis=1))", Answer::Equivalent},
        Pair{"log_of_sum", "%x: f32[8,16]", "return (log (sum %x axis=1))",
             "return (log (sum (add %x, 0) axis=1))", Answer::Equivalent},
        Pair{"row_sums_are_not_column_sums", "%x: f32[16,16]", "return (sum %x axis=0)",
             "%t = transpose %x perm=[1,0]\nreturn (transpose (sum %t axis=0) perm=[1,0])",
             Answer::Unknown},
        Pair{"root_of_square", "%x: f32[8,16]", "return (sqrt (mean (square %x) axis=1))",
             "%n = extent %x axis=1\nreturn (sqrt (div (sum (square %x) axis=1), %n))",
             Answer::Equivalent},
        Pair{"inverse_under_the_root", "%x: f32[8,16]",
             "return (div %x, (sqrt (mean (square %x) axis=1)))",
             "%n = extent %x axis=1\nreturn (mul %x, (sqrt (div %n, (sum (square %x) axis=1))))",
             Answer::Equivalent},
        Pair{"inverse_of_moments_under_the_root", "%x: f32[4,32]",
             "%c = sub %x, (mean %x axis=1)\n"
             "return (div %c, (sqrt (mean (square %c) axis=1)))",
             "%m = mean %x axis=1\n%v = sub (mean (square %x) axis=1), (square %m)\n"
             "return (mul (sub %x, %m), (sqrt (div 1, %v)))",
             Answer::Equivalent},
        Pair{"inverse_of_a_positive_number_plus_eps", "%x: f32[8,16]",
             "return (div %x, (sqrt (add (mean (square %x) axis=1), 1e-5)))",
             "return (mul %x, (sqrt (div 1, (add (mean (square %x) axis=1), 1e-5))))",
             Answer::Equivalent},
        Pair{"sum_for_mean", "%x: f32[8,16]", "return (sqrt (mean (square %x) axis=1))",
             "return (sqrt (sum (square %x) axis=1))", Answer::Different},
        Pair{"literal_extent", "%x: f32[8,4096]", "return (mean %x axis=1)",
             "return (mul (sum %x axis=1), 0x1p-12)", Answer::Equivalent},
        Pair{"wrong_literal_extent", "%x: f32[8,4096]", "return (mean %x axis=1)",
             "return (mul (sum %x axis=1), 0x1p-11)", Answer::Different},
        Pair{"cubes_differ_at_three_elements", "%x: f32[1,64]", "return (mul 0, (sum %x axis=1))",
             "%s = sum %x axis=1\n%q = sum (square %x) axis=1\n"
             "%c = sum (mul (square %x), %x) axis=1\n"
             "return (add (sub (mul (square %s), %s), (mul 3, (mul %s, %q))), (mul 2, %c))",
             Answer::Different},
        Pair{"removable_singularity", "%x: f32[8], %y: f32[8]", "return (mul %x, 2)",
             "return (div (mul (mul %x, %y), 2), %y)", Answer::Unknown},
        Pair{"positive_denominator", "%x: f32[8], %y: f32[8]", "return (mul %x, 2)",
             "%e = exp %y\nreturn (div (mul (mul %x, %e), 2), %e)", Answer::Equivalent},
        Pair{"layer_norm_by_moments", "%x: f32[4,32]",
             "%c = sub %x, (mean %x axis=1)\nreturn (mean (square %c) axis=1)",
             "return (sub (mean (square %x) axis=1), (square (mean %x axis=1)))",
             Answer::Equivalent},
        Pair{"eps_differs", "%x: f32[4,32]", "return (sqrt (add (mean (square %x) axis=1), 1e-5))",
             "return (sqrt (add (mean (square %x) axis=1), 1e-6))", Answer::Different}),
    [](const auto& row) { return std::string(row.param.name); });

// What a block accumulates over its loop, as a fused kernel of the norm and a linear layer has it.
TEST(Domains, InverseOfAnAccumulatedSumUnderTheRoot) {
  const auto verdict = compare("%x: f32[16,256], %w: f32[256,96]",
                               "return (matmul (div %x, (sqrt (mean (square %x) axis=1))), %w)",
                               R"(%y = block(%x, %w) axes(g: grid 6, i: loop 4) threads(128) {
  %a = load %x [., i]
  %b = load %w [i, g]
  %p = accum sum (matmul %a, %b)
  %s = accum sum (sum (square %a) axis=1)
  %n = extent %x axis=1
  store (mul %p, (sqrt (div %n, %s))) [., g]
}
return %y)");
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_TRUE(verdict->is_equivalent()) << to_string(*verdict);
  EXPECT_TRUE(verdict->all_sizes) << to_string(*verdict);
}

struct Refusal {
  const char* name;
  const char* reference;
  const char* candidate;
};

class Refused : public testing::TestWithParam<Refusal> {};

// Equal as rational functions, but defined for fewer inputs. Without the real size only the domain
// check can tell.
TEST_P(Refused, ByTheDomain) {
  const auto parse = [](const std::string& body) {
    return (*ir::parse("kernel @g(%x: f32[8], %y: f32[8]) {\n" + body + "\n}\n"))[0];
  };
  VerifyOptions options;
  options.real_size_work = 0;
  const auto verdict = verify(*parse(GetParam().reference), *parse(GetParam().candidate), options);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->answer, Answer::Unknown) << to_string(*verdict);
  EXPECT_EQ(verdict->reason.rfind("domain: ", 0), 0U) << to_string(*verdict);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Refused,
    testing::Values(
        Refusal{"root_of_any_sign", "return (mul %x, %y)",
                "%r = sqrt %y\nreturn (mul %x, (mul %r, %r))"},
        Refusal{"root_of_any_sign_beside_a_root", "return (mul (sqrt (square %x)), %y)",
                "%r = sqrt %y\nreturn (mul (sqrt (square %x)), (mul %r, %r))"},
        Refusal{"root_of_a_denominator", "return (div %x, %y)",
                "%r = sqrt %y\nreturn (div %x, (mul %r, %r))"},
        Refusal{"root_of_an_inverse_denominator", "return (div %x, %y)",
                "%r = sqrt (div 1, %y)\nreturn (mul %x, (mul %r, %r))"},
        Refusal{"root_of_an_inverse", "return (mul %x, 2)",
                "%r = sqrt (div 1, (square %y))\n"
                "return (mul (mul %x, 2), (mul (mul %r, %r), (square %y)))"},
        Refusal{"root_of_a_product", "return (mul (sqrt (square %x)), %y)",
                "%r = sqrt (mul %x, %y)\nreturn (div (mul (mul (sqrt (square %x)), %r), %r), %x)"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Replay, WitnessesHoldAndForgedOnesDoNot) {
  const auto parse = [](const char* text) { return (*ir::parse(text))[0]; };
  const auto a = parse("kernel @a(%x: f32[8,64], %w: f32[64,24]) {\n return (matmul %x, %w)\n}\n");
  const auto b =
      parse("kernel @b(%x: f32[8,64], %w: f32[64,24]) {\n return (matmul (square %x), %w)\n}\n");
  auto verdict = verify(*a, *b);
  ASSERT_TRUE(verdict) << verdict.error().message;
  ASSERT_TRUE(verdict->witness) << to_string(*verdict);
  EXPECT_TRUE(replay(*a, *b, *verdict));
  const auto forged = replay(*a, *a, *verdict);
  ASSERT_FALSE(forged);
  EXPECT_EQ(forged.error().code, Code::Mismatch);
  verdict->witness.reset();
  EXPECT_FALSE(replay(*a, *b, *verdict));
}

TEST(Verify, OutputsMayBePermuted) {
  const auto verdict = compare("%x: f32[8,16]", "%a = exp %x\n%b = neg %x\nreturn %a, %b",
                               "%a = exp %x\n%b = neg %x\nreturn %b, %a");
  ASSERT_TRUE(verdict) << verdict.error().message;
  ASSERT_TRUE(verdict->is_equivalent()) << to_string(*verdict);
  EXPECT_EQ(verdict->output_order, (std::vector<size_t>{1, 0}));
}

TEST(Verify, IdenticalGraphsNeedNoTrial) {
  const auto verdict = compare("%x: f32[8,16]", "return (exp %x)", "return (exp %x)");
  EXPECT_EQ(verdict->method, Method::Identical);
}

TEST(Verify, ListsWhatItTookAsUnknown) {
  const auto verdict =
      compare("%x: f32[8,16]", "return (gelu (add %x, %x))", "return (gelu (mul 2, %x))");
  ASSERT_TRUE(verdict->is_equivalent()) << to_string(*verdict);
  EXPECT_EQ(verdict->uninterpreted, std::vector<std::string>{"erf"});
}

// Axes without a common refinement keep their extents: too much for the field test, quickly said.
TEST(Verify, LargeModelsAreRefusedQuickly) {
  const auto verdict =
      compare("%x: f32[600,1000]", "%a = reshape %x shape=[1000,600]\nreturn (exp %a)",
              "%a = exp %x\nreturn (mul (reshape %a shape=[1000,600]), 2)");
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_NE(verdict->answer, Answer::Equivalent);
}

// Equal where both axes are equally long, as they may be in one small model.
TEST(Verify, ExtentsThatAreEqualInOneSmallModelAreNotTheSame) {
  for (const char* axis : {"1", "2"}) {
    const auto parse = [](const std::string& text) { return (*ir::parse(text))[0]; };
    const std::string inputs = "%x: f32[4,64], %w: f32[64,96], %u: f32[96,128]";
    const std::string body = "%y = matmul (matmul %x, %w), %u\n";
    VerifyOptions options;
    options.real_size_work = 0;
    const auto verdict =
        verify(*parse("kernel @a(" + inputs + ") {\n" + body +
                      "%n = extent %x axis=1\nreturn (mul %y, %n)\n}\n"),
               *parse("kernel @b(" + inputs + ") {\n" + body + "%n = extent " +
                      (axis[0] == '1' ? "%w" : "%u") + " axis=1\nreturn (mul %y, %n)\n}\n"),
               options);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_FALSE(verdict->all_sizes) << to_string(*verdict);
  }
}

TEST(Verify, RefusesOtherInputs) {
  const auto parse = [](const char* text) { return (*ir::parse(text))[0]; };
  const auto verdict = verify(*parse("kernel @a(%x: f32[8]) {\n return (exp %x)\n}\n"),
                              *parse("kernel @b(%x: f32[9]) {\n return (exp %x)\n}\n"));
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().message,
            "verify: input 0 is f32[8] in the program and f32[9] in the candidate");
}

TEST(Verify, OnlyEquivalentGraphsBecomeVerified) {
  const auto parse = [](const char* text) { return (*ir::parse(text))[0]; };
  const auto program = parse("kernel @a(%x: f32[8]) {\n return (mul %x, %x)\n}\n");
  EXPECT_TRUE(verified(program, parse("kernel @b(%x: f32[8]) {\n return (square %x)\n}\n")));
  const auto refused = verified(program, parse("kernel @b(%x: f32[8]) {\n return (exp %x)\n}\n"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Mismatch);
  // A name says nothing about the answer, and the answer nothing about a name.
  const auto undecided = verified(
      parse("kernel @a(%different: f32[8], %y: f32[8]) {\n return (mul %different, 2)\n}\n"),
      parse("kernel @b(%different: f32[8], %y: f32[8]) {\n"
            " return (div (mul (mul %different, %y), 2), %y)\n}\n"));
  ASSERT_FALSE(undecided);
  EXPECT_EQ(undecided.error().code, Code::Unsupported) << undecided.error().message;
}

}  // namespace
}  // namespace mirage::verify
