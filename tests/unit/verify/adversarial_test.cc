// Pairs that attack what verification approximates: sizes of the small model, sums whose summand
// does not depend on the index, ragged tiles, literals that are extents, signs of roots, domains,
// axes of equal extent, laws of exponentials and maxima, softmax shifts.

#include <gtest/gtest.h>

#include "unit/verify/support.h"
#include "verify/replay.h"
#include "verify/verify.h"

namespace mirage::verify {
namespace {

enum class Expected {
  Equal,      // for all sizes
  Here,       // for these sizes; other sizes are different or not claimed
  Different,  // with a witness that holds on replay
  Unknown,    // neither is allowed: equal but without a law, or less defined
};
using enum Expected;

struct Row {
  const char* name;
  const char* inputs;
  const char* reference;
  const char* candidate;
  Expected expected;
};

class Adversarial : public testing::TestWithParam<Row> {};

TEST_P(Adversarial, HasTheRightVerdict) {
  const Row& row = GetParam();
  const ir::GraphPtr a = graph_of(row.inputs, row.reference);
  const ir::GraphPtr b = graph_of(row.inputs, row.candidate);
  ASSERT_TRUE(a && b);
  const auto verdict = verify(*a, *b);
  ASSERT_TRUE(verdict) << verdict.error().message;
  const Answer answer = row.expected == Different ? Answer::Different
                        : row.expected == Unknown ? Answer::Unknown
                                                  : Answer::Equivalent;
  EXPECT_EQ(verdict->answer, answer) << to_string(*verdict);
  EXPECT_EQ(verdict->all_sizes, row.expected == Equal) << to_string(*verdict);
  EXPECT_EQ(verdict->witness.has_value(), verdict->answer == Answer::Different);
  if (verdict->witness) {
    EXPECT_TRUE(replay(*a, *b, *verdict)) << to_string(*verdict);
  }

  // The real size may correct what is said of these sizes; of all sizes nothing wrong may be said
  // before, by the field alone or with proofs.
  for (bool use_proof : {false, true}) {
    VerifyOptions options;
    options.real_size_work = 0;
    options.use_proof = use_proof;
    const auto small = verify(*a, *b, options);
    ASSERT_TRUE(small) << small.error().message;
    EXPECT_FALSE(row.expected != Equal && small->is_equivalent() && small->all_sizes)
        << to_string(*small);
  }
}

constexpr const char* kX = "%x: f64[4,64]";
constexpr const char* kXY = "%x: f64[4,64], %y: f64[4,64]";
constexpr const char* kRow = "%x: f32[1,64]";
constexpr const char* kSquare = "%x: f32[16,16], %y: f32[16,16]";
constexpr const char* kAttention = "%q: f32[8,16], %k: f32[16,32], %v: f32[32,16]";
constexpr const char* kAttentionProgram =
    "%e = exp (matmul %q, %k)\nreturn (matmul (div %e, (sum %e axis=1)), %v)";

std::string name_of_row(const testing::TestParamInfo<Row>& row) { return row.param.name; }

#define MIRAGE_ROWS(group, ...) \
  INSTANTIATE_TEST_SUITE_P(group, Adversarial, testing::Values(__VA_ARGS__), name_of_row)

MIRAGE_ROWS(
    SmallSizes,
    Row{"mean_is_not_half_the_sum", kX, "return (mean %x axis=1)",
        "return (mul (sum %x axis=1), 0.5)", Different},
    Row{"mean_is_not_a_third_of_the_sum", kX, "return (mean %x axis=1)",
        "return (div (sum %x axis=1), 3)", Different},
    Row{"ones_by_a_quotient", kX, "%e = exp %x\nreturn (sum (div %e, %e) axis=1)",
        "%e = exp (sum %x axis=1)\nreturn (mul (div %e, %e), 2)", Different},
    Row{"ones_by_a_quotient_at_two", "%x: f32[4,2]",
        "%e = exp %x\nreturn (sum (div %e, %e) axis=1)",
        "%e = exp (sum %x axis=1)\nreturn (mul (div %e, %e), 2)", Here},
    Row{"ones_by_pow", kX, "return (sum (pow %x, 0) axis=1)",
        "return (mul (exp (mul (sum %x axis=1), 0)), 3)", Different},
    Row{"ones_by_pow_at_three", "%x: f32[4,3]", "return (sum (pow %x, 0) axis=1)",
        "return (mul (exp (mul (sum %x axis=1), 0)), 3)", Here},
    Row{"polynomial_of_an_extent", kX, "return (mul 0, (sum %x axis=1))",
        "%n = extent %x axis=1\n"
        "return (mul (mul (sub %n, 2), (mul (sub %n, 3), (sub %n, 4))), (sum %x axis=1))",
        Different},
    Row{"polynomial_of_an_extent_at_its_root", kX, "return (mul 0, (sum %x axis=1))",
        "%n = extent %x axis=1\n"
        "return (mul (mul (sub %n, 2), (mul (sub %n, 3), (sub %n, 64))), (sum %x axis=1))",
        Here},
    Row{"polynomial_of_another_extent_at_its_root", "%x: f64[64,4]",
        "return (mul 0, (sum %x axis=1))",
        "%n = extent %x axis=0\n"
        "return (mul (mul (sub %n, 2), (mul (sub %n, 3), (sub %n, 64))), (sum %x axis=1))",
        Here},
    Row{"fourth_symmetric_polynomial", kRow, "return (mul 0, (sum %x axis=1))",
        "%q = square %x\n%a = sum %x axis=1\n%b = sum %q axis=1\n%c = sum (mul %q, %x) axis=1\n"
        "%d = sum (square %q) axis=1\n%f = square %a\n"
        "%r = add (sub (square %f), (mul 6, (mul %f, %b))), (mul 3, (square %b))\n"
        "return (add %r, (sub (mul 8, (mul %a, %c)), (mul 6, %d)))",
        Different},
    Row{"sixth_symmetric_polynomial", kRow, "return (mul 0, (sum %x axis=1))",
        "%q = square %x\n%w = mul %q, %x\n%a = sum %x axis=1\n%b = sum %q axis=1\n"
        "%c = sum %w axis=1\n%d = sum (square %q) axis=1\n%f = sum (mul %q, %w) axis=1\n"
        "%g = sum (square %w) axis=1\n%a2 = square %a\n%a3 = mul %a2, %a\n%b2 = square %b\n"
        "%r1 = sub (square %a3), (mul 15, (mul (square %a2), %b))\n"
        "%r2 = sub (mul 45, (mul %a2, %b2)), (mul 15, (mul %b2, %b))\n"
        "%r3 = sub (mul 40, (mul %a3, %c)), (mul 120, (mul %a, (mul %b, %c)))\n"
        "%r4 = sub (mul 40, (square %c)), (mul 90, (mul %a2, %d))\n"
        "%r5 = add (mul 90, (mul %b, %d)), (mul 144, (mul %a, %f))\n"
        "return (sub (add (add %r1, %r2), (add %r3, (add %r4, %r5))), (mul 120, %g))",
        Different},
    Row{"sum_over_the_others", kRow, "return (sum (exp %x) axis=1)",
        "return (sum (exp (sub (sum %x axis=1), %x)) axis=1)", Different},
    Row{"sum_over_the_other", "%x: f64[1,2]", "return (sum (exp %x) axis=1)",
        "return (sum (exp (sub (sum %x axis=1), %x)) axis=1)", Here},
    Row{"mean_of_a_concat", "%x: f64[4,24], %y: f64[4,40]",
        "return (mean (concat %x, %y axis=1) axis=1)",
        "%m = extent %x axis=1\n%n = extent %y axis=1\n"
        "return (div (add (sum %x axis=1), (sum %y axis=1)), (add %m, %n))",
        Equal},
    Row{"mean_of_a_concat_by_halves", "%x: f64[4,24], %y: f64[4,40]",
        "return (mean (concat %x, %y axis=1) axis=1)",
        "return (mul 0.5, (add (mean %x axis=1), (mean %y axis=1)))", Different},
    Row{"mean_of_a_concat_by_equal_halves", "%x: f64[4,32], %y: f64[4,32]",
        "return (mean (concat %x, %y axis=1) axis=1)",
        "return (mul 0.5, (add (mean %x axis=1), (mean %y axis=1)))", Here},
    Row{"extents_that_are_equal_here", "%x: f64[4,32], %y: f64[4,32]",
        "%n = extent %x axis=1\nreturn (add (mul %x, %n), %y)",
        "%n = extent %y axis=0\n%m = extent %y axis=1\n"
        "return (add (mul %x, (div (mul %n, %m), 4)), %y)",
        Here},
    Row{"outer_product_of_equal_extents", "%x: f64[32,1], %y: f64[1,32]",
        "return (mul (mean %x axis=0), (sum %y axis=1))",
        "return (mul (sum %x axis=0), (mean %y axis=1))", Here},
    Row{"mean_by_groups", kX, "return (mean %x axis=1)",
        "%g = reshape %x shape=[4,8,8]\nreturn (reshape (mean (mean %g axis=2) axis=1) "
        "shape=[4,1])",
        Equal},
    Row{"axes_that_are_equally_long_when_small", "%x: f32[4,6,8]", "return (mul %x, 2)",
        "return (mul (reshape (transpose %x perm=[2,1,0]) shape=[4,6,8]), 2)", Different});

MIRAGE_ROWS(
    SharedInputs,
    Row{"square_of_a_sum", kRow, "%s = sum %x axis=1\nreturn (square %s)",
        "%p = matmul (transpose %x perm=[1,0]), %x\nreturn (sum (sum %p axis=0) axis=1)", Equal},
    Row{"sum_of_squares_is_not_the_square", kRow, "%s = sum %x axis=1\nreturn (square %s)",
        "return (sum (square %x) axis=1)", Different},
    Row{"exponential_of_a_sum_of_two_indices", kRow, "%s = sum (exp %x) axis=1\nreturn (square %s)",
        "%e = exp (add %x, (transpose %x perm=[1,0]))\nreturn (sum (sum %e axis=0) axis=1)", Equal},
    Row{"exponential_of_a_product_of_two_indices", kRow,
        "%s = sum (exp %x) axis=1\nreturn (square %s)",
        "%e = exp (mul %x, (transpose %x perm=[1,0]))\nreturn (sum (sum %e axis=0) axis=1)",
        Different},
    Row{"symmetric_scores", "%x: f32[16,8]",
        "%e = exp (matmul %x, (transpose %x perm=[1,0]))\nreturn (sum %e axis=1)",
        "%e = exp (matmul %x, (transpose %x perm=[1,0]))\n"
        "return (transpose (sum %e axis=0) perm=[1,0])",
        Equal},
    Row{"crossed_indices", "%x: f32[1,64], %y: f32[1,64]",
        "%s = sum (mul %x, %y) axis=1\nreturn (square %s)",
        "%p = matmul (transpose %x perm=[1,0]), %y\n"
        "return (sum (sum (mul %p, (transpose %p perm=[1,0])) axis=0) axis=1)",
        Equal},
    Row{"uncrossed_indices", "%x: f32[1,64], %y: f32[1,64]",
        "%s = sum (mul %x, %y) axis=1\nreturn (square %s)",
        "%p = matmul (transpose %x perm=[1,0]), %y\n"
        "return (sum (sum (mul %p, %p) axis=0) axis=1)",
        Different},
    Row{"gram_of_a_product", "%x: f32[8,16], %w: f32[16,24]",
        "%y = matmul %x, %w\nreturn (matmul %y, (transpose %y perm=[1,0]))",
        "%g = matmul %w, (transpose %w perm=[1,0])\n"
        "return (matmul (matmul %x, %g), (transpose %x perm=[1,0]))",
        Equal},
    Row{"softmax_sums_to_one", kX, "%e = exp %x\nreturn (sum (div %e, (sum %e axis=1)) axis=1)",
        "return (exp (mul 0, (sum %x axis=1)))", Equal},
    Row{"one_factor_of_all_summands", kX,
        "%f = narrow %x axis=1 start=0 length=1\nreturn (sum (mul %x, %f) axis=1)",
        "%f = narrow %x axis=1 start=0 length=1\nreturn (mul (sum %x axis=1), %f)", Equal},
    Row{"first_factor_is_not_the_last", kX,
        "%f = narrow %x axis=1 start=0 length=1\nreturn (sum (mul %x, %f) axis=1)",
        "%f = narrow %x axis=1 start=63 length=1\nreturn (sum (mul %x, %f) axis=1)", Different},
    Row{"factor_of_its_own_index", kX,
        "%f = narrow %x axis=1 start=0 length=1\nreturn (sum (mul %x, %f) axis=1)",
        "return (sum (square %x) axis=1)", Different});

MIRAGE_ROWS(DeadBinders,
            Row{"deviations_sum_to_zero", kX, "return (mul 0, (sum %x axis=1))",
                "return (sum (sub %x, (mean %x axis=1)) axis=1)", Equal},
            Row{"variance_times_the_square_of_the_extent", kX,
                "%c = sub %x, (mean %x axis=1)\n%n = extent %x axis=1\n"
                "return (mul %n, (sum (square %c) axis=1))",
                "%n = extent %x axis=1\n"
                "return (sub (mul %n, (sum (square %x) axis=1)), (square (sum %x axis=1)))",
                Equal},
            Row{"variance_with_one_less", kX,
                "%c = sub %x, (mean %x axis=1)\nreturn (mean (square %c) axis=1)",
                "%c = sub %x, (mean %x axis=1)\n%n = extent %x axis=1\n"
                "return (div (sum (square %c) axis=1), (sub %n, 1))",
                Different},
            Row{"constant_in_the_sum", kX, "return (sum (add %x, 3) axis=1)",
                "%n = extent %x axis=1\nreturn (add (sum %x axis=1), (mul 3, %n))", Equal},
            Row{"constant_out_of_the_sum", kX, "return (sum (add %x, 3) axis=1)",
                "return (add (sum %x axis=1), 3)", Different},
            Row{"invariant_accumulated", "%x: f32[8,64], %b: f32[8,1]",
                "return (add (sum %x axis=1), %b)",
                "%y = block(%x, %b) axes(i: loop 4) {\n%a = load %x [., i]\n%c = load %b [., .]\n"
                "store (add (accum sum (sum %a axis=1)), (accum sum %c)) [., .]\n}\nreturn %y",
                Different},
            Row{"invariant_accumulated_and_counted", "%x: f32[8,64], %b: f32[8,1]",
                "return (add (sum %x axis=1), (mul %b, 4))",
                "%y = block(%x, %b) axes(i: loop 4) {\n%a = load %x [., i]\n%c = load %b [., .]\n"
                "store (add (accum sum (sum %a axis=1)), (accum sum %c)) [., .]\n}\nreturn %y",
                Here},
            Row{"invariant_in_the_summand", "%x: f32[8,64], %b: f32[8,1]",
                "return (sum (add %x, %b) axis=1)",
                "%y = block(%x, %b) axes(i: loop 4) {\n%a = load %x [., i]\n%c = load %b [., .]\n"
                "store (accum sum (sum (add %a, %c) axis=1)) [., .]\n}\nreturn %y",
                Equal});

MIRAGE_ROWS(
    Tiles,
    Row{"ragged_sum", "%x: f64[8,10]", "return (sum %x axis=1)",
        "%y = block(%x) axes(i: loop 4) {\n%a = load %x [., i]\n"
        "store (accum sum (sum %a axis=1)) [., .]\n}\nreturn %y",
        Equal},
    Row{"ragged_rows", "%x: f32[10,8]", "return (exp %x)",
        "%y = block(%x) axes(m: grid 4) {\n%a = load %x [m, .]\n"
        "store (exp %a) [m, .] shape=[10,8]\n}\nreturn %y",
        Equal},
    Row{"mean_of_means", "%x: f32[8,64]", "return (mean %x axis=1)",
        "%y = block(%x) axes(i: loop 4) {\n%a = load %x [., i]\n"
        "store (mul 0.25, (accum sum (mean %a axis=1))) [., .]\n}\nreturn %y",
        Here},
    Row{"mean_of_ragged_means", "%x: f64[8,10]", "return (mean %x axis=1)",
        "%y = block(%x) axes(i: loop 4) {\n%a = load %x [., i]\n"
        "store (mul 0.25, (accum sum (mean %a axis=1))) [., .]\n}\nreturn %y",
        Different},
    Row{"mean_of_ragged_means_by_counting", "%x: f32[8,10]", "return (mean %x axis=1)",
        "%y = block(%x) axes(i: loop 4) {\n%a = load %x [., i]\n%s = mean %a axis=1\n"
        "store (div (accum sum %s), (accum sum (exp (mul 0, %s)))) [., .]\n}\nreturn %y",
        Different},
    Row{"mean_of_means_by_counting", "%x: f32[8,12]", "return (mean %x axis=1)",
        "%y = block(%x) axes(i: loop 4) {\n%a = load %x [., i]\n%s = mean %a axis=1\n"
        "store (div (accum sum %s), (accum sum (exp (mul 0, %s)))) [., .]\n}\nreturn %y",
        Equal},
    Row{"products_with_the_extent_of_a_ragged_tile", "%x: f64[8,10]",
        "%n = extent %x axis=1\nreturn (mul %n, (sum %x axis=1))",
        "%y = block(%x) axes(i: loop 4) {\n%a = load %x [., i]\n%n = extent %a axis=1\n"
        "%s = accum sum (mul %n, (sum %a axis=1))\n%t = accum sum (mul 0, (sum %a axis=1))\n"
        "store (add (mul 4, %s), %t) [., .]\n}\nreturn %y",
        Different},
    Row{"accumulated_mean", "%x: f32[8,64]", "return (mean %x axis=1)",
        "%y = block(%x) axes(i: loop 4) {\n%a = load %x [., i]\n"
        "store (accum mean (mean %a axis=1)) [., .]\n}\nreturn %y",
        Equal},
    Row{"accumulated_sum_of_means", "%x: f32[8,64]", "return (mean %x axis=1)",
        "%y = block(%x) axes(i: loop 4) {\n%a = load %x [., i]\n"
        "store (accum sum (mean %a axis=1)) [., .]\n}\nreturn %y",
        Different},
    Row{"accumulated_maximum", "%x: f32[8,64]", "return (max %x axis=1)",
        "%y = block(%x) axes(i: loop 4) {\n%a = load %x [., i]\n"
        "store (accum max (max %a axis=1)) [., .]\n}\nreturn %y",
        Equal},
    Row{"accumulated_sum_of_maxima", "%x: f32[8,64]", "return (max %x axis=1)",
        "%y = block(%x) axes(i: loop 4) {\n%a = load %x [., i]\n"
        "store (accum sum (max %a axis=1)) [., .]\n}\nreturn %y",
        Different},
    Row{"grid_axes_of_one_dimension_exchanged", "%x: f32[64,8]", "return (exp %x)",
        "%y = block(%x) axes(m: grid 4, n: grid 4) {\n%a = load %x [m/n, .]\n"
        "store (exp %a) [n/m, .]\n}\nreturn %y",
        Different},
    Row{"strided_tiles_of_a_sum", "%x: f32[8,64]", "return (sum %x axis=1)",
        "%y = block(%x) axes(i: loop 4, j: loop 2) {\n%a = load %x [., j/i]\n"
        "store (accum sum (sum %a axis=1)) [., .]\n}\nreturn %y",
        Equal});

MIRAGE_ROWS(
    Rescale,
    Row{"running_maximum", kAttention, kAttentionProgram,
        "%o = block(%q, %k, %v) axes(m: grid 2, j: loop 4) {\n"
        "%a = load %q [m, .]\n%t = load %k [., j]\n%u = load %v [j, .]\n%s = matmul %a, %t\n"
        "%m1, %d = running_max %s axis=1\n%e = exp (sub %s, %m1)\n%r = exp %d\n"
        "%l = accum_rescale (sum %e axis=1), %r\n%p = accum_rescale (matmul %e, %u), %r\n"
        "store (div %p, %l) [m, .]\n}\nreturn %o",
        Equal},
    Row{"sum_not_rescaled", kAttention, kAttentionProgram,
        "%o = block(%q, %k, %v) axes(m: grid 2, j: loop 4) {\n"
        "%a = load %q [m, .]\n%t = load %k [., j]\n%u = load %v [j, .]\n%s = matmul %a, %t\n"
        "%m1, %d = running_gauge %s axis=1\n%e = exp (sub %s, %m1)\n%r = exp %d\n"
        "%l = accum sum (sum %e axis=1)\n%p = accum_rescale (matmul %e, %u), %r\n"
        "store (div %p, %l) [m, .]\n}\nreturn %o",
        Different},
    Row{"nothing_rescaled", kAttention, kAttentionProgram,
        "%o = block(%q, %k, %v) axes(m: grid 2, j: loop 4) {\n"
        "%a = load %q [m, .]\n%t = load %k [., j]\n%u = load %v [j, .]\n%s = matmul %a, %t\n"
        "%m1, %d = running_gauge %s axis=1\n%e = exp (sub %s, %m1)\n"
        "%l = accum sum (sum %e axis=1)\n%p = accum sum (matmul %e, %u)\n"
        "store (div %p, %l) [m, .]\n}\nreturn %o",
        Different},
    Row{"rescaled_the_wrong_way", kAttention, kAttentionProgram,
        "%o = block(%q, %k, %v) axes(m: grid 2, j: loop 4) {\n"
        "%a = load %q [m, .]\n%t = load %k [., j]\n%u = load %v [j, .]\n%s = matmul %a, %t\n"
        "%m1, %d = running_gauge %s axis=1\n%e = exp (sub %s, %m1)\n%r = exp (neg %d)\n"
        "%l = accum_rescale (sum %e axis=1), %r\n%p = accum_rescale (matmul %e, %u), %r\n"
        "store (div %p, %l) [m, .]\n}\nreturn %o",
        Different},
    Row{"rescaled_by_another_shift", kAttention, kAttentionProgram,
        "%o = block(%q, %k, %v) axes(m: grid 2, j: loop 4) {\n"
        "%a = load %q [m, .]\n%t = load %k [., j]\n%u = load %v [j, .]\n%s = matmul %a, %t\n"
        "%m1, %d = running_gauge %s axis=1\n%m2, %f = running_gauge (mul 2, %s) axis=1\n"
        "%e = exp (sub %s, %m1)\n%r = exp %f\n"
        "%l = accum_rescale (sum %e axis=1), %r\n%p = accum_rescale (matmul %e, %u), %r\n"
        "store (div %p, %l) [m, .]\n}\nreturn %o",
        Different},
    Row{"shifted_by_another_maximum_and_rescaled_by_it", kAttention, kAttentionProgram,
        "%o = block(%q, %k, %v) axes(m: grid 2, j: loop 4) {\n"
        "%a = load %q [m, .]\n%t = load %k [., j]\n%u = load %v [j, .]\n%s = matmul %a, %t\n"
        "%m2, %f = running_gauge (mul 2, %s) axis=1\n"
        "%e = exp (sub %s, %m2)\n%r = exp %f\n"
        "%l = accum_rescale (sum %e axis=1), %r\n%p = accum_rescale (matmul %e, %u), %r\n"
        "store (div %p, %l) [m, .]\n}\nreturn %o",
        Equal},
    Row{"halves_with_their_own_shift", kAttention, kAttentionProgram,
        "%s = matmul %q, %k\n%s1 = narrow %s axis=1 start=0 length=16\n"
        "%s2 = narrow %s axis=1 start=16 length=16\n"
        "%v1 = narrow %v axis=0 start=0 length=16\n%v2 = narrow %v axis=0 start=16 length=16\n"
        "%e1 = exp (sub %s1, (gauge_max %s1 axis=1))\n"
        "%e2 = exp (sub %s2, (gauge_max %s2 axis=1))\n"
        "%p = add (matmul %e1, %v1), (matmul %e2, %v2)\n"
        "return (div %p, (add (sum %e1 axis=1), (sum %e2 axis=1)))",
        Different},
    Row{"halves_with_one_shift", kAttention, kAttentionProgram,
        "%s = matmul %q, %k\n%s1 = narrow %s axis=1 start=0 length=16\n"
        "%s2 = narrow %s axis=1 start=16 length=16\n"
        "%v1 = narrow %v axis=0 start=0 length=16\n%v2 = narrow %v axis=0 start=16 length=16\n"
        "%g = gauge_max %s1 axis=1\n%e1 = exp (sub %s1, %g)\n%e2 = exp (sub %s2, %g)\n"
        "%p = add (matmul %e1, %v1), (matmul %e2, %v2)\n"
        "return (div %p, (add (sum %e1 axis=1), (sum %e2 axis=1)))",
        Equal},
    Row{"average_of_two_softmaxes", kAttention, kAttentionProgram,
        "%s = matmul %q, %k\n%s1 = narrow %s axis=1 start=0 length=16\n"
        "%s2 = narrow %s axis=1 start=16 length=16\n"
        "%v1 = narrow %v axis=0 start=0 length=16\n%v2 = narrow %v axis=0 start=16 length=16\n"
        "%e1 = exp %s1\n%e2 = exp %s2\n"
        "%o1 = matmul (div %e1, (sum %e1 axis=1)), %v1\n"
        "%o2 = matmul (div %e2, (sum %e2 axis=1)), %v2\nreturn (mul 0.5, (add %o1, %o2))",
        Different},
    Row{"shift_without_a_use", kX, "return (sub %x, (max %x axis=1))",
        "return (sub %x, (gauge_max %x axis=1))", Unknown},
    Row{"shift_above_only", kX, "%e = exp %x\nreturn (div %e, (sum %e axis=1))",
        "%e = exp (sub %x, (gauge_max %x axis=1))\nreturn (div %e, (sum (exp %x) axis=1))",
        Different},
    Row{"shift_along_the_other_axis", kSquare, "%e = exp %x\nreturn (div %e, (sum %e axis=1))",
        "%e = exp (sub %x, (gauge_max %x axis=0))\nreturn (div %e, (sum %e axis=1))", Different},
    Row{"shift_of_something_else", kXY, "%e = exp %x\nreturn (div %e, (sum %e axis=1))",
        "%e = exp (sub %x, (gauge_max %y axis=1))\nreturn (div %e, (sum %e axis=1))", Equal});

MIRAGE_ROWS(Literals,
            Row{"quarter_is_the_mean_of_four", "%x: f32[8,4]", "return (mean %x axis=1)",
                "return (mul (sum %x axis=1), 0.25)", Here},
            Row{"half_is_the_mean_of_two", "%x: f32[8,2]", "return (mean %x axis=1)",
                "return (mul (sum %x axis=1), 0.5)", Here},
            Row{"quarter_of_the_wrong_axis", "%x: f32[4,8]", "return (mean %x axis=1)",
                "return (mul (sum %x axis=1), 0.25)", Different},
            Row{"extent_of_the_wrong_axis", "%x: f32[64,32]", "return (mean %x axis=1)",
                "return (mul (sum %x axis=1), 0x1p-6)", Different},
            Row{"extent_in_a_block", "%x: f64[8,64], %w: f64[64,48]",
                "return (matmul (mul %x, 0x1p-6), %w)",
                "%y = block(%x, %w) axes(n: grid 3, k: loop 4) {\n%a = load %x [., k]\n"
                "%b = load %w [k, n]\n%n = extent %x axis=1\n"
                "store (div (accum sum (matmul %a, %b)), %n) [., n]\n}\nreturn %y",
                Here},
            Row{"extent_of_a_tile_in_a_block", "%x: f64[8,64], %w: f64[64,48]",
                "return (matmul (mul %x, 0x1p-6), %w)",
                "%y = block(%x, %w) axes(n: grid 3, k: loop 4) {\n%a = load %x [., k]\n"
                "%b = load %w [k, n]\n%n = extent %a axis=1\n"
                "store (accum sum (div (matmul %a, %b), %n)) [., n]\n}\nreturn %y",
                Different},
            Row{"literal_beside_half_the_sum", kX, "return (mul (mean %x axis=1), 64)",
                "%n = extent %x axis=1\nreturn (mul (mul (sum %x axis=1), 0.5), %n)", Different},
            Row{"extent_of_a_square", kSquare, "return (mean %x axis=0)",
                "return (mul (sum %x axis=0), 0x1p-4)", Here},
            Row{"mean_over_two_axes", "%x: f32[64,32]", "return (mean (mean %x axis=0) axis=1)",
                "return (mul (sum (sum %x axis=0) axis=1), 0x1p-11)", Here},
            Row{"literals_that_are_nearly_one_extent", "%x: f64[8,64]", "return (mul %x, 0.125)",
                "return (mul %x, 0x1.0000000000001p-3)", Unknown},
            Row{"literals_of_ten_digits", kX, "return (mul %x, 0.125)",
                "return (mul %x, 0.12500000001)", Unknown},
            Row{"literals_of_seven_digits", kX, "return (mul %x, 0.125)",
                "return (mul %x, 0.1250001)", Different},
            Row{"roots_of_extents_rounded_twice", "%x: f64[4,96]",
                "%n = extent %x axis=1\nreturn (div %x, (sqrt %n))",
                "return (mul %x, 0.10206207261596577)", Here},
            Row{"root_of_the_head_dimension", kX,
                "%n = extent %x axis=1\nreturn (div %x, (sqrt %n))", "return (mul %x, 0.125)",
                Here},
            Row{"root_of_another_dimension", "%x: f64[64,16]",
                "%n = extent %x axis=1\nreturn (div %x, (sqrt %n))", "return (mul %x, 0.125)",
                Different},
            Row{"doubled_by_two_terms", "%x: f32[2,8]", "return (add %x, %x)", "return (mul %x, 2)",
                Equal});

MIRAGE_ROWS(
    Roots,
    Row{"root_of_a_square", kX, "return (sqrt (square %x))", "return (add %x, 0)", Different},
    Row{"root_of_a_fourth_power", kX, "return (sqrt (square (square %x)))", "return (mul %x, %x)",
        Equal},
    Row{"root_of_a_squared_product", kXY, "return (sqrt (square (mul %x, %y)))",
        "return (mul %x, %y)", Different},
    Row{"product_of_absolute_values", kXY, "return (sqrt (square (mul %x, %y)))",
        "return (mul (sqrt (square %x)), (sqrt (square %y)))", Equal},
    Row{"square_of_a_root", kX, "%r = sqrt %x\nreturn (mul (mul %r, %r), 2)", "return (mul %x, 2)",
        Equal},
    Row{"square_of_a_root_is_less_defined", kX, "return (mul %x, 2)",
        "%r = sqrt %x\nreturn (mul (mul %r, %r), 2)", Unknown},
    Row{"root_of_a_product", kXY, "return (mul (sqrt %x), (sqrt %y))", "return (sqrt (mul %x, %y))",
        Equal},
    Row{"root_of_a_product_is_more_defined", kXY, "return (sqrt (mul %x, %y))",
        "return (mul (sqrt %x), (sqrt %y))", Unknown},
    Row{"norm_does_not_see_a_scale", kX, "return (div %x, (sqrt (mean (square %x) axis=1)))",
        "%z = mul 3, %x\nreturn (div %z, (sqrt (mean (square %z) axis=1)))", Equal},
    Row{"norm_sees_a_sign", kX, "return (div %x, (sqrt (mean (square %x) axis=1)))",
        "%z = mul -3, %x\nreturn (div %z, (sqrt (mean (square %z) axis=1)))", Different},
    Row{"norm_with_eps_sees_a_scale", kX,
        "return (div %x, (sqrt (add (mean (square %x) axis=1), 0.01)))",
        "%z = mul 3, %x\nreturn (div %z, (sqrt (add (mean (square %z) axis=1), 0.01)))", Different},
    Row{"root_of_minus_twice", kX, "%r = sqrt %x\nreturn (mul %r, %r)",
        "%r = sqrt (mul -2, %x)\nreturn (mul (mul %r, %r), -0.5)", Different},
    Row{"root_of_a_square_sum", kXY, "return (sqrt (square (add %x, %y)))",
        "return (add (sqrt (square %x)), (sqrt (square %y)))", Different},
    Row{"inverse_root_of_a_square", kX, "return (rsqrt (square %x))", "return (div 1, %x)",
        Different},
    Row{"root_of_an_exponential", kX, "return (sqrt (exp %x))", "return (exp (mul %x, 0.5))",
        Equal},
    Row{"root_of_two", kX, "return (sqrt (mul 2, (square %x)))",
        "return (mul (sqrt 2), (sqrt (square %x)))", Equal},
    Row{"root_of_a_sum", kXY, "return (sqrt (add (square %x), (square %y)))",
        "return (add (sqrt (square %x)), (sqrt (square %y)))", Different},
    Row{"absolute_value_by_a_maximum", kX, "return (sqrt (square %x))",
        "return (maximum %x, (neg %x))", Unknown},
    Row{"root_of_a_positive_square", kX, "return (sqrt (square (add (square %x), 1)))",
        "return (add (square %x), 1)", Here},
    Row{"root_of_a_square_that_may_be_negative", kX, "return (sqrt (square (sub (square %x), 1)))",
        "return (sub (square %x), 1)", Different},
    Row{"root_of_a_squared_norm", kX,
        "%n = add (mean (square %x) axis=1), 0.01\nreturn (sqrt (mul %n, %n))",
        "return (add (mean (square %x) axis=1), 0.01)", Here},
    Row{"root_of_a_squared_sum_of_exponentials", kX,
        "%l = sum (exp %x) axis=1\nreturn (div (exp %x), (sqrt (square %l)))",
        "%e = exp %x\nreturn (div %e, (sum %e axis=1))", Here},
    Row{"root_of_a_square_of_relu", kX, "return (sqrt (square (relu %x)))", "return (relu %x)",
        Here},
    Row{"root_of_a_square_of_silu", kX, "return (sqrt (square (silu %x)))", "return (silu %x)",
        Different},
    Row{"root_of_a_square_beside_a_positive_square", kXY,
        "%n = add (square %x), 1\nreturn (mul (sqrt (square %n)), (sqrt (square %y)))",
        "return (mul (add (square %x), 1), %y)", Different},
    Row{"root_of_a_power_of_a_norm", kX, "%n = add (square %x), 1\nreturn (pow (pow %n, 4), 0.5)",
        "return (square (add (square %x), 1))", Equal},
    Row{"root_of_a_difference_of_norms", kXY,
        "%n = sub (sum (square %x) axis=1), (sum (square %y) axis=1)\nreturn (sqrt (square %n))",
        "return (sub (sum (square %x) axis=1), (sum (square %y) axis=1))", Different},
    Row{"pow_two", kX, "return (pow %x, 2)", "return (mul %x, %x)", Equal},
    Row{"pow_three", kX, "return (pow %x, 3)", "return (mul (square %x), %x)", Equal},
    Row{"pow_five", kX, "return (pow %x, 5)", "return (mul (square (square %x)), %x)", Equal},
    Row{"pow_half", kX, "return (pow %x, 0.5)", "return (sqrt %x)", Equal},
    Row{"pow_minus_half", kX, "return (rsqrt %x)", "return (pow %x, -0.5)", Equal},
    Row{"pow_minus_one", kX, "return (div 1, %x)", "return (pow %x, -1)", Equal},
    Row{"pow_three_halves", kX, "return (pow %x, 1.5)", "return (mul %x, (sqrt %x))", Equal},
    Row{"pow_of_a_square", kX, "return (pow (square %x), 0.5)", "return (add %x, 0)", Different},
    Row{"base_for_exponent", kX, "return (pow %x, 2)", "return (pow 2, %x)", Different},
    Row{"cube_of_a_cubic_root", kX, "return (add %x, 0)",
        "return (pow (pow %x, 0.33333333333333331), 3)", Different});

MIRAGE_ROWS(
    Domains, Row{"x_over_x", kXY, "return (mul (div %x, %x), %y)", "return (add %y, 0)", Equal},
    Row{"one_is_more_defined", kXY, "return (add %y, 0)", "return (mul (div %x, %x), %y)", Unknown},
    Row{"inverse_by_pow", kXY, "return (mul %x, 2)",
        "return (mul (mul %x, 2), (mul %y, (pow %y, -1)))", Unknown},
    Row{"root_by_pow", kXY, "return (mul %x, %y)",
        "%r = pow %y, 0.5\nreturn (mul %x, (mul %r, %r))", Unknown},
    Row{"logarithm_that_cancels", kXY, "return (add %x, 0)",
        "%l = log %y\nreturn (add %x, (sub %l, %l))", Unknown},
    Row{"logarithm_of_a_square_that_cancels", kXY, "return (add %x, 0)",
        "%l = log (square %y)\nreturn (add %x, (sub %l, %l))", Unknown},
    Row{"quotient_of_differences", kXY, "return (add %x, %y)",
        "return (div (sub (square %x), (square %y)), (sub %x, %y))", Unknown},
    Row{"difference_of_squares", kXY, "return (div (sub (square %x), (square %y)), (sub %x, %y))",
        "return (add %x, %y)", Equal},
    Row{"zero_over_x", kX, "return (mul %x, 0)", "return (div 0, %x)", Unknown},
    Row{"never_defined", kX, "return (div %x, (sub %x, %x))",
        "return (div (mul %x, 2), (sub %x, %x))", Unknown},
    Row{"denominators_that_cancel", "%a: f32[8], %b: f32[8], %c: f32[8]",
        "return (div (div %a, %b), %c)", "return (div %a, (mul %b, %c))", Equal},
    Row{"quotient_of_quotients", "%a: f32[8], %b: f32[8], %c: f32[8], %d: f32[8]",
        "return (div (div %a, %b), (div %c, %d))", "return (div (mul %a, %d), (mul %b, %c))",
        Unknown},
    Row{"inverse_of_an_inverse", "%a: f32[8], %b: f32[8]", "return (div %a, (div 1, %b))",
        "return (mul %a, %b)", Equal},
    Row{"no_small_model", "%x: f32[600,1000], %y: f32[600,1000]",
        "return (reshape (mul %x, 2) shape=[1000,600])",
        "return (reshape (div (mul (mul %x, 2), %y), %y) shape=[1000,600])", Unknown});

MIRAGE_ROWS(
    Axes,
    Row{"mean_along_the_other_axis", kSquare, "return (sub %x, (mean %x axis=1))",
        "return (sub %x, (mean %x axis=0))", Different},
    Row{"bias_along_the_other_axis", "%x: f32[16,16], %b: f32[16]", "return (add %x, %b)",
        "return (add %x, (reshape %b shape=[16,1]))", Different},
    Row{"transposed_square", kSquare, "return (mul %x, 2)",
        "return (mul (transpose %x perm=[1,0]), 2)", Different},
    Row{"transposed_batch", "%x: f32[8,8,8]", "return (exp %x)",
        "return (exp (transpose %x perm=[1,0,2]))", Different},
    Row{"transpose_of_a_product", kSquare, "return (transpose (matmul %x, %y) perm=[1,0])",
        "return (matmul (transpose %y perm=[1,0]), (transpose %x perm=[1,0]))", Equal},
    Row{"transposes_in_the_wrong_order", kSquare, "return (transpose (matmul %x, %y) perm=[1,0])",
        "return (matmul (transpose %x perm=[1,0]), (transpose %y perm=[1,0]))", Different},
    Row{"product_does_not_commute", kSquare, "return (matmul %x, %y)", "return (matmul %y, %x)",
        Different},
    Row{"reshape_is_not_a_transpose", "%x: f32[4,16]", "return (transpose %x perm=[1,0])",
        "return (reshape %x shape=[16,4])", Different},
    Row{"heads_split_the_other_way", "%x: f32[8,64]",
        "%h = reshape %x shape=[8,4,16]\nreturn (sum %h axis=1)",
        "%h = reshape %x shape=[8,16,4]\nreturn (transpose (sum %h axis=2) perm=[0,2,1])",
        Different},
    Row{"concat_of_halves", kX, "return (exp %x)",
        "%a = narrow %x axis=1 start=0 length=32\n%b = narrow %x axis=1 start=32 length=32\n"
        "return (exp (concat %a, %b axis=1))",
        Equal},
    Row{"concat_of_exchanged_halves", kX, "return (exp %x)",
        "%a = narrow %x axis=1 start=0 length=32\n%b = narrow %x axis=1 start=32 length=32\n"
        "return (exp (concat %b, %a axis=1))",
        Different},
    Row{"exchanged_quarters", kX, "return (exp %x)",
        "%a = narrow %x axis=1 start=0 length=16\n%b = narrow %x axis=1 start=16 length=16\n"
        "%c = narrow %x axis=1 start=32 length=16\n%d = narrow %x axis=1 start=48 length=16\n"
        "return (exp (concat %a, %c, %b, %d axis=1))",
        Different},
    Row{"slice_off_by_one", kX, "return (sum (narrow %x axis=1 start=1 length=62) axis=1)",
        "return (sum (narrow %x axis=1 start=2 length=62) axis=1)", Different},
    Row{"both_factors_permuted", "%x: f32[8,16], %y: f32[8,16], %w: f32[16,8], %u: f32[16,8]",
        "return (matmul (concat %x, %y axis=1), (concat %w, %u axis=0))",
        "return (matmul (concat %y, %x axis=1), (concat %u, %w axis=0))", Equal},
    Row{"one_factor_permuted", "%x: f32[8,16], %y: f32[8,16], %w: f32[16,8], %u: f32[16,8]",
        "return (matmul (concat %x, %y axis=1), (concat %w, %u axis=0))",
        "return (matmul (concat %y, %x axis=1), (concat %w, %u axis=0))", Different},
    Row{"rotated_the_other_way", "%x: f32[8,16]",
        "%a = narrow %x axis=1 start=0 length=8\n%b = narrow %x axis=1 start=8 length=8\n"
        "return (concat (neg %b), %a axis=1)",
        "%a = narrow %x axis=1 start=0 length=8\n%b = narrow %x axis=1 start=8 length=8\n"
        "return (concat %b, (neg %a) axis=1)",
        Different},
    Row{"batches_exchanged", "%x: f32[2,8,16], %w: f32[2,16,8]", "return (matmul %x, %w)",
        "%a = narrow %w axis=0 start=0 length=1\n%b = narrow %w axis=0 start=1 length=1\n"
        "return (matmul %x, (concat %b, %a axis=0))",
        Different});

MIRAGE_ROWS(Attention,
            Row{"norms_of_keys_out_of_the_product", kAttention,
                "%a = div %q, (sqrt (mean (square %q) axis=1))\n"
                "%b = div %k, (sqrt (mean (square %k) axis=0))\n"
                "%e = exp (matmul %a, %b)\nreturn (matmul (div %e, (sum %e axis=1)), %v)",
                "%n = mul (sqrt (mean (square %q) axis=1)), (sqrt (mean (square %k) axis=0))\n"
                "%e = exp (div (matmul %q, %k), %n)\nreturn (div (matmul %e, %v), (sum %e axis=1))",
                Equal},
            Row{"norms_along_the_keys", "%q: f32[8,16], %k: f32[16,16], %v: f32[16,16]",
                "%b = div %k, (sqrt (mean (square %k) axis=0))\n"
                "%e = exp (matmul %q, %b)\nreturn (matmul (div %e, (sum %e axis=1)), %v)",
                "%b = div %k, (sqrt (mean (square %k) axis=1))\n"
                "%e = exp (matmul %q, %b)\nreturn (matmul (div %e, (sum %e axis=1)), %v)",
                Different},
            Row{"norm_of_all_keys_for_the_norm_of_one", "%k: f32[16,32], %v: f32[32,16]",
                "%n = transpose (sqrt (mean (square %k) axis=0)) perm=[1,0]\n"
                "return (sum (div %v, %n) axis=0)",
                "%n = sum (transpose (sqrt (mean (square %k) axis=0)) perm=[1,0]) axis=0\n"
                "return (div (sum %v axis=0), %n)",
                Different},
            Row{"projection_of_heads",
                "%q: f32[2,8,16], %k: f32[2,16,32], %v: f32[2,32,16], %w: f32[2,16,24]",
                "%e = exp (matmul %q, %k)\n%o = matmul (div %e, (sum %e axis=2)), %v\n"
                "return (sum (matmul %o, %w) axis=0)",
                "%e = exp (matmul %q, %k)\n%y = matmul (matmul %e, %v), %w\n"
                "return (sum (div %y, (sum %e axis=2)) axis=0)",
                Equal},
            Row{"heads_share_a_denominator",
                "%q: f32[2,8,16], %k: f32[2,16,32], %v: f32[2,32,16], %w: f32[2,16,24]",
                "%e = exp (matmul %q, %k)\n%o = matmul (div %e, (sum %e axis=2)), %v\n"
                "return (sum (matmul %o, %w) axis=0)",
                "%e = exp (matmul %q, %k)\n%y = matmul (matmul %e, %v), %w\n"
                "return (div (sum %y axis=0), (sum (sum %e axis=2) axis=0))",
                Different},
            Row{"shift_of_a_logarithm", kX, "return (log (sum (exp %x) axis=1))",
                "%m = max %x axis=1\nreturn (add %m, (log (sum (exp (sub %x, %m)) axis=1)))",
                Equal});

MIRAGE_ROWS(
    Functions,
    Row{"two_nested_exponentials", kX, "%e = exp (exp %x)\nreturn (mul %e, %e)",
        "return (exp (mul 2, (exp %x)))", Equal},
    Row{"factor_inside_nested_exponentials", kX, "return (exp (exp %x))",
        "return (exp (mul 2, (exp %x)))", Different},
    Row{"five_nested_exponentials", kX, "return (exp (exp (exp (exp (exp (mul -9, %x))))))",
        "return (exp (exp (exp (exp (exp (mul -8, %x))))))", Different},
    Row{"logarithm_of_an_exponential", kX, "return (log (exp %x))", "return (add %x, 0)", Equal},
    Row{"exponential_of_a_logarithm", kX, "return (add %x, 0)", "return (exp (log %x))", Different},
    Row{"logarithm_of_a_product", kXY, "return (log (mul %x, %y))",
        "return (add (log %x), (log %y))", Different},
    Row{"logarithm_of_a_square", kX, "return (log (square %x))", "return (mul 2, (log %x))",
        Different},
    Row{"tanh_by_sigmoid", kX, "return (tanh %x)", "return (sub (mul 2, (sigmoid (mul 2, %x))), 1)",
        Equal},
    Row{"sigmoid_of_a_difference", kXY, "return (sigmoid (sub %x, %y))",
        "%e = exp %x\nreturn (div %e, (add %e, (exp %y)))", Equal},
    Row{"tanh_of_the_negative", kX, "return (tanh (neg %x))", "return (neg (tanh %x))", Equal},
    Row{"silu_by_the_negative", kX, "return (silu %x)", "return (add %x, (silu (neg %x)))", Equal},
    Row{"silu_is_not_odd", kX, "return (silu (neg %x))", "return (neg (silu %x))", Different},
    Row{"exponential_of_a_mean", kX, "return (exp (mean %x axis=1))",
        "return (mean (exp %x) axis=1)", Different},
    Row{"sigmoid_of_the_negative", kX, "return (sigmoid (neg %x))", "return (sub 1, (sigmoid %x))",
        Equal},
    Row{"gelu_by_tanh", kX, "return (gelu %x)",
        "%u = mul 0.7978845608028654, (add %x, (mul 0.044715, (mul (square %x), %x)))\n"
        "return (mul (mul 0.5, %x), (add 1, (tanh %u)))",
        Different},
    Row{"gelu_by_sigmoid", kX, "return (gelu %x)", "return (mul %x, (sigmoid (mul 1.702, %x)))",
        Different},
    Row{"square_of_relu", kX, "return (square (relu %x))", "return (relu (square %x))", Different},
    Row{"relu_twice", kX, "return (relu %x)", "return (relu (relu %x))", Equal},
    Row{"relu_of_the_negative", kX, "return (relu (neg %x))", "return (neg (relu %x))", Different},
    Row{"parts_of_relu", kX, "return (mul %x, 1)", "return (sub (relu %x), (relu (neg %x)))",
        Unknown},
    Row{"clamp_from_the_other_side", kX, "return (clamp %x lo=-1 hi=1)",
        "return (neg (clamp (neg %x) lo=-1 hi=1))", Unknown},
    Row{"maxima_in_another_order", "%x: f32[16,32]", "return (max (max %x axis=0) axis=1)",
        "return (max (max %x axis=1) axis=0)", Equal},
    Row{"maximum_of_sums", "%x: f32[16,32]", "return (max (sum %x axis=0) axis=1)",
        "return (sum (max %x axis=1) axis=0)", Different},
    Row{"maximum_for_minimum", kXY, "return (maximum %x, %y)", "return (neg (minimum %x, %y))",
        Different},
    Row{"minimum_by_maximum", kXY, "return (minimum %x, %y)",
        "return (neg (maximum (neg %x), (neg %y)))", Equal},
    Row{"maximum_and_minimum", kXY, "return (add (maximum %x, %y), (minimum %x, %y))",
        "return (add %x, %y)", Unknown},
    Row{"maximum_is_not_distributive", kXY, "return (mul 2, (maximum %x, %y))",
        "return (maximum %x, (mul 2, %y))", Different},
    Row{"relu_with_a_bound", kX, "return (relu %x)", "return (minimum (relu %x), 300)", Different},
    Row{"relu_with_a_far_bound", kX, "return (relu %x)", "return (clamp %x lo=0 hi=1e30)",
        Different},
    Row{"a_tiny_summand_under_a_root", kX, "return (sqrt (add (square %x), 1e-30))",
        "return (sqrt (square %x))", Different},
    Row{"maximum_shifted", kX, "return (max (add %x, 3) axis=1)", "return (add (max %x axis=1), 3)",
        Unknown});

}  // namespace
}  // namespace mirage::verify
