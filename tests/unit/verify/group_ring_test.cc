#include "verify/group_ring.h"

#include <gtest/gtest.h>

#include "unit/verify/support.h"
#include "util/rng.h"
#include "verify/verify.h"

namespace mirage::verify {
namespace {

using Ring = RingDomain<2>;
using Value = Ring::Value;

class GroupRing : public testing::Test {
 protected:
  Value random() { return ring.plain(field.random(rng, 2)); }
  Value exp(const Value& x) { return ring.apply(ir::Fn::Exp, x); }
  bool equal(const Value& a, const Value& b) { return ring.compare(a, b).is_equal; }

  Ring ring{interp::prime_chain(3), 5};
  interp::FieldDomain<2> field{interp::prime_chain(3), 5};
  Rng rng{17};
};

TEST_F(GroupRing, ExponentialsOfSumsAreProducts) {
  const Value x = random(), y = random(), c = random();
  EXPECT_TRUE(equal(exp(ring.add(x, y)), ring.mul(exp(x), exp(y))));
  EXPECT_TRUE(equal(exp(ring.sub(x, y)), ring.div(exp(x), exp(y))));
  EXPECT_FALSE(equal(exp(ring.add(x, y)), ring.add(exp(x), exp(y))));
  EXPECT_FALSE(equal(exp(x), c));
  EXPECT_TRUE(ring.obstacle().empty());
}

TEST_F(GroupRing, SoftmaxDoesNotDependOnAShift) {
  const Value m = random();
  Value plain = ring.zero(), shifted = ring.zero(), first, second;
  for (int i = 0; i < 5; ++i) {
    const Value x = random();
    first = exp(x);
    second = exp(ring.sub(x, m));
    plain = ring.add(plain, first);
    shifted = ring.add(shifted, second);
  }
  EXPECT_TRUE(equal(ring.div(first, plain), ring.div(second, shifted)));
  EXPECT_FALSE(equal(ring.div(first, plain), ring.div(first, shifted)));
  // Sums and products of quotients with one denominator keep it.
  const Value twice = ring.add(ring.div(first, plain), ring.div(first, plain));
  EXPECT_EQ(twice.bottom, ring.div(first, plain).bottom);
  EXPECT_TRUE(equal(ring.mul(twice, plain), ring.add(first, first)));
}

TEST_F(GroupRing, RootsOfOneTerm) {
  const Value x = random(), e = exp(x);
  const Value root = ring.apply(ir::Fn::Sqrt, e);
  EXPECT_TRUE(equal(ring.mul(root, root), e));
  EXPECT_TRUE(equal(root, exp(ring.mul(x, ring.constant(0.5)))));
  EXPECT_TRUE(ring.obstacle().empty());
  ring.apply(ir::Fn::Exp, ring.add(e, x));
  EXPECT_FALSE(ring.obstacle().empty());
}

TEST_F(GroupRing, CountsTermsBeforeTheyMerge) {
  const Value x = random(), y = random(), z = random();
  const Value a = ring.add(exp(x), exp(y)), b = ring.add(exp(ring.add(x, y)), exp(z));
  const auto found = ring.compare(ring.div(a, b), ring.div(a, b));
  EXPECT_TRUE(found.is_equal);
  EXPECT_EQ(found.count, 8);   // two products of 2 and 2
  EXPECT_EQ(found.height, 2);  // of two exponentials
}

struct Pair {
  const char* name;
  const char* inputs;
  const char* reference;
  const char* candidate;
};

class DependentExponents : public testing::TestWithParam<Pair> {};

// Exponents that share all their inputs: the scalar test has no bound of its own.
TEST_P(DependentExponents, HaveABound) {
  const Pair& pair = GetParam();
  const auto verdict =
      verify(*graph_of(pair.inputs, pair.reference), *graph_of(pair.inputs, pair.candidate));
  ASSERT_TRUE(verdict) << verdict.error().message;
  ASSERT_TRUE(verdict->is_equivalent()) << to_string(*verdict);
  EXPECT_LE(verdict->log2_error_bound, -50) << to_string(*verdict);
}

INSTANTIATE_TEST_SUITE_P(
    Table, DependentExponents,
    testing::Values(
        Pair{"safe_softmax", "%x: f32[8,64]",
             "%e = exp (sub %x, (max %x axis=1))\nreturn (div %e, (sum %e axis=1))",
             "%e = exp %x\nreturn (div %e, (sum %e axis=1))"},
        Pair{"normalised_keys", "%q: f32[8,16], %k: f32[16,32]",
             "%n = div %k, sqrt (mean (square %k) axis=1)\n%e = exp (matmul %q, %n)\n"
             "return (div %e, (sum %e axis=1))",
             "%n = div %k, sqrt (mean (square %k) axis=1)\n%s = matmul %q, %n\n"
             "%e = exp %s\n%i = exp (neg %s)\nreturn (div (div 1, %i), (sum %e axis=1))"},
        Pair{"sums_in_exponents", "%x: f32[8,16], %y: f32[8,16]",
             "return (mul (exp (add %x, %y)), (exp (sub %x, %y)))", "return (exp (add %x, %x))"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace mirage::verify
