// What only the real size shows must be found within the budget of a search, and no more be spent.

#include "verify/real_size.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "unit/verify/support.h"
#include "verify/verify.h"

namespace mirage::verify {
namespace {

Result<RealSizeCheck> check(const std::string& inputs, const std::string& a, const std::string& b,
                            uint64_t work = kSearchWork) {
  return check_real_size(*graph_of(inputs, a), *graph_of(inputs, b), {0}, 1, work);
}

struct Wrong {
  const char* name;
  const char* inputs;
  const char* reference;
  const char* candidate;
};

class WrongAtTheRealSize : public testing::TestWithParam<Wrong> {};

TEST_P(WrongAtTheRealSize, IsFound) {
  const Wrong& p = GetParam();
  const auto found = check(p.inputs, p.reference, p.candidate);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->difference);
  const auto same = check(p.inputs, p.reference, p.reference);
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_FALSE(same->difference);
  EXPECT_GE(same->compared, 3U);
}

constexpr const char* kProduct = "%x: f32[8,4096], %w: f32[4096,4000]";
constexpr const char* kAttention = "%q: f32[2,256,64], %k: f32[2,64,2048], %v: f32[2,2048,64]";
constexpr const char* kSoftmax =
    "%e = exp (matmul %q, %k)\nreturn (matmul (div %e, (sum %e axis=2)), %v)";

INSTANTIATE_TEST_SUITE_P(
    Table, WrongAtTheRealSize,
    testing::Values(
        Wrong{"last_step_of_the_loop_is_missing", kProduct, "return (matmul %x, %w)",
              "%a = narrow %x axis=1 start=0 length=4032\n"
              "%b = narrow %w axis=0 start=0 length=4032\nreturn (matmul %a, %b)"},
        Wrong{"one_term_is_missing", kProduct, "return (matmul %x, %w)",
              "%a = narrow %x axis=1 start=0 length=4095\n"
              "%b = narrow %w axis=0 start=0 length=4095\nreturn (matmul %a, %b)"},
        Wrong{"last_column_is_another", kProduct, "return (matmul %x, %w)",
              "%y = matmul %x, %w\n%a = narrow %y axis=1 start=0 length=3999\n"
              "%b = narrow %y axis=1 start=3998 length=1\nreturn (concat %a, %b axis=1)"},
        Wrong{"last_row_is_another", kProduct, "return (matmul %x, %w)",
              "%y = matmul %x, %w\n%a = narrow %y axis=0 start=0 length=7\n"
              "%b = narrow %y axis=0 start=0 length=1\nreturn (concat %a, %b axis=0)"},
        Wrong{"last_key_is_missing", kAttention, kSoftmax,
              "%k1 = narrow %k axis=2 start=0 length=2047\n"
              "%v1 = narrow %v axis=1 start=0 length=2047\n"
              "%e = exp (matmul %q, %k1)\nreturn (matmul (div %e, (sum %e axis=2)), %v1)"},
        Wrong{"grid_axes_exchanged", "%x: f32[512,512]", "return (exp %x)",
              "%y = block(%x) axes(m: grid 8, n: grid 8) {\n%a = load %x [n, m]\n"
              "store (exp %a) [m, n]\n}\nreturn %y"},
        Wrong{"grid_axis_walks_the_wrong_way", "%x: f32[512,512]", "return (exp %x)",
              "%y = block(%x) axes(m: grid 8, n: grid 4) {\n%a = load %x [m/n, .]\n"
              "store (exp %a) [n/m, .]\n}\nreturn %y"},
        Wrong{"heads_of_another_batch", kAttention, kSoftmax,
              "%y = block(%q, %k, %v) axes(b: grid 2, m: grid 8, j: loop 16) {\n"
              "%a = load %q [b, m, .]\n%t = load %k [b, ., j]\n%u = load %v [., j, .]\n"
              "%u1 = narrow %u axis=0 start=0 length=1\n"
              "%e = exp (matmul %a, %t)\n%l = accum sum (sum %e axis=2)\n"
              "%p = accum sum (matmul %e, %u1)\nstore (div %p, %l) [b, m, .]\n}\nreturn %y"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(RealSize, ShortTilesThatDoNotFitAreRefused) {
  const auto result = check("%x: f32[100,8], %y: f32[100,8]", "return (add %x, %y)",
                            "%z = block(%x, %y) axes(m: grid 7) {\n%a = load %x [m, .]\n"
                            "%b = load %y [m, .]\n%s = accum sum (add %a, %b)\n"
                            "store %s [m, .] shape=[105,8]\n}\n"
                            "return (narrow %z axis=0 start=0 length=100)");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::Unsupported);
}

// One entry needs 64 million products.
TEST(RealSize, DearEntriesAreNotComputed) {
  const char* chain = "return (matmul (matmul %x, %w), %w)";
  const auto result = check("%x: f32[8192,8192], %w: f32[8192,8192]", chain, chain);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_FALSE(result->is_complete);
  EXPECT_EQ(result->compared, 0U);
}

TEST(RealSize, VerdictsSayHowManyEntriesWereCompared) {
  const auto parse = [](const char* text) { return (*ir::parse(text))[0]; };
  const auto verdict = verify(*parse("kernel @a(%x: f32[8,64]) {\n return (mul %x, 2)\n}\n"),
                              *parse("kernel @b(%x: f32[8,64]) {\n return (add %x, %x)\n}\n"));
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_GT(verdict->real_size_entries, 20U);
  EXPECT_NE(to_string(*verdict).find("entries at the real size"), std::string::npos);
}

}  // namespace
}  // namespace mirage::verify
