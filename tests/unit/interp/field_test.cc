#include <gtest/gtest.h>

#include "interp/domain_field.h"
#include "util/rng.h"

namespace mirage::interp {
namespace {

TEST(PrimeChain, EveryChainIsOne) {
  ASSERT_GE(chain_count(), 16u);
  for (size_t c = 0; c < chain_count(); ++c) {
    const PrimeChain& chain = prime_chain(c);
    for (size_t i = 0; i < kMaxLevels; ++i) {
      const uint64_t p = chain.level[i].p();
      EXPECT_TRUE(is_prime(p)) << p;
      EXPECT_EQ(p % 4, 3u);
      EXPECT_LT(p, uint64_t{1} << 61);
      if (i + 1 < kMaxLevels) {
        EXPECT_EQ(p, 2 * chain.level[i + 1].p() + 1);
      }
    }
    for (size_t other = 0; other < c; ++other)
      EXPECT_NE(prime_chain(other).level[0].p(), chain.level[0].p());
  }
}

TEST(PrimeChain, IsPrime) {
  EXPECT_TRUE(is_prime(2) && is_prime(61) && is_prime(0xffffffffffffffc5u));
  EXPECT_FALSE(is_prime(0) || is_prime(1) || is_prime(3215031751u) || is_prime(uint64_t{1} << 61));
}

TEST(Prime, ArithmeticAtBothEdges) {
  for (size_t c = 0; c < chain_count(); ++c)
    for (const Prime& prime : prime_chain(c).level) {
      const uint64_t p = prime.p();
      for (uint64_t a : {uint64_t{0}, uint64_t{1}, uint64_t{2}, p / 2, p - 2, p - 1})
        for (uint64_t b : {uint64_t{0}, uint64_t{1}, uint64_t{3}, p / 2 + 1, p - 2, p - 1}) {
          const uint64_t x = prime.from_integer(a), y = prime.from_integer(b);
          EXPECT_EQ(prime.to_integer(x), a);
          EXPECT_EQ(prime.to_integer(prime.mul(x, y)),
                    static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b % p));
          EXPECT_EQ(prime.to_integer(prime.add(x, y)),
                    static_cast<uint64_t>((static_cast<unsigned __int128>(a) + b) % p));
          EXPECT_EQ(prime.add(prime.sub(x, y), y), x);
        }
    }
}

// Sums of unreduced products of the largest residues, across the length at which 128 bits would
// overflow without care (63 products below 2^122).
TEST(Prime, AccumulateNeverOverflows) {
  for (const Prime& prime : prime_chain(0).level)
    for (uint64_t n : {1u, 62u, 63u, 64u, 65u, 1000u}) {
      const uint64_t a = prime.p() - 1;  // the largest raw residue
      unsigned __int128 sum = 0;
      for (uint64_t i = 0; i < n; ++i) prime.accumulate(sum, a, a);
      const uint64_t expected = prime.mul(prime.mul(a, a), prime.from_integer(n));
      EXPECT_EQ(prime.reduce(sum), expected) << n;
    }
}

TEST(Prime, ExpAndRootAreThoseOfTheReals) {
  Rng rng(3);
  for (size_t c = 0; c < chain_count(); ++c)
    for (size_t level = 0; level + 1 < kMaxLevels; ++level) {
      const Prime& p = prime_chain(c).level[level];
      const Prime& q = prime_chain(c).level[level + 1];
      const uint64_t a = rng.below(q.p()), b = rng.below(q.p());
      EXPECT_EQ(p.mul(p.exp(a), p.exp(b)), p.exp((a + b) % q.p()));
      EXPECT_EQ(p.exp(0), p.one());
      EXPECT_EQ(p.exp(q.p() - 1), p.inverse(p.exp(1)));
      // The root of exp(a) is exp(a / 2).
      const uint64_t half = q.to_integer(q.mul(q.from_integer(a), q.inverse(q.from_integer(2))));
      EXPECT_EQ(p.root(p.exp(a)).value(), p.exp(half));
      EXPECT_FALSE(p.root(p.neg(p.exp(a))));
    }
}

using Field = FieldDomain<2>;

TEST(Field, LawsOfSigmoidSiluAndTanh) {
  Rng rng(4);
  Field d(prime_chain(1), 5);
  for (int i = 0; i < 100; ++i) {
    const auto x = d.random(rng, 2);
    const ir::Attrs none;
    d.set_levels(1);
    const auto map = [&](ir::OpKind kind, const Field::Value& v) {
      return ir::eval_map(kind, d, none, std::span<const Field::Value>(&v, 1)).r[0];
    };
    const auto e = d.apply(ir::Fn::Exp, x);
    const auto one = d.constant(1);
    // silu(x) = x e / (1 + e)
    EXPECT_EQ(map(ir::OpKind::Silu, x), d.div(d.mul(x, e), d.add(one, e)).r[0]);
    // tanh(x) = (e^2 - 1) / (e^2 + 1)
    const auto e2 = d.mul(e, e);
    EXPECT_EQ(map(ir::OpKind::Tanh, x), d.div(d.sub(e2, one), d.add(e2, one)).r[0]);
    EXPECT_NE(map(ir::OpKind::Gelu, x), map(ir::OpKind::Silu, x));
  }
}

TEST(Field, MaximumIsASet) {
  Rng rng(5);
  Field d(prime_chain(2), 6);
  const auto a = d.random(rng, 1), b = d.random(rng, 1), c = d.random(rng, 1);
  const auto left = d.maximum(d.maximum(a, b), c), right = d.maximum(b, d.maximum(c, a));
  EXPECT_EQ(left.r[0], right.r[0]);
  EXPECT_EQ(d.maximum(a, a).r[0], a.r[0]);
  EXPECT_EQ(d.maximum(left, b).r[0], left.r[0]);
  EXPECT_NE(left.r[0], d.maximum(a, b).r[0]);
  EXPECT_EQ(d.minimum(a, b).r[0], d.neg(d.maximum(d.neg(a), d.neg(b))).r[0]);
  EXPECT_EQ(d.opaque_use().names(), std::vector<std::string>{"maximum"});
}

TEST(Field, ConstantsAreRationalOrOpaque) {
  Field d(prime_chain(3), 7);
  const Prime& p = prime_chain(3).level[0];
  EXPECT_EQ(d.constant(0.5).r[0], p.inverse(p.from_integer(2)));
  EXPECT_EQ(d.constant(-3).r[0], p.neg(p.from_integer(3)));
  EXPECT_EQ(d.mul(d.constant(1.0 / 3), d.constant(3)).r[0], p.one());
  EXPECT_EQ(d.constant(0x1p-12).r[0], p.inverse(p.from_integer(4096)));
  EXPECT_FALSE(small_rational(1e-6));
  EXPECT_FALSE(small_rational(0.70710678118654752));
  EXPECT_EQ(d.constant(1e-6).r[0], d.constant(1e-6).r[0]);
  EXPECT_NE(d.constant(1e-6).r[0], d.constant(1e-5).r[0]);
  EXPECT_EQ(d.constant(-1e-6).r[0], d.neg(d.constant(1e-6)).r[0]);
  Field other(prime_chain(3), 8);
  EXPECT_NE(d.constant(1e-6).r[0], other.constant(1e-6).r[0]);
}

TEST(Field, UndefinedIsAbsorbingAndReported) {
  Field d(prime_chain(4), 9);
  const auto bad = d.div(d.constant(1), d.sub(d.constant(2), d.constant(2)));
  EXPECT_EQ(bad.levels, 0);
  EXPECT_TRUE(d.divided_by_zero());
  EXPECT_EQ(d.add(bad, d.constant(1)).levels, 0);
  const auto two = d.apply(ir::Fn::Sqrt, d.constant(4));
  EXPECT_EQ(d.mul(two, two).r[0], d.constant(4).r[0]);
  EXPECT_EQ(d.apply(ir::Fn::Sqrt, d.constant(-4)).levels, 0);
  EXPECT_EQ(d.failed_roots().size(), 1u);
}

TEST(Field, PowOfSmallExponents) {
  Rng rng(6);
  Field d(prime_chain(5), 10);
  const auto x = d.random(rng, 1);
  EXPECT_EQ(d.pow(x, d.constant(3)).r[0], d.mul(x, d.mul(x, x)).r[0]);
  EXPECT_EQ(d.pow(x, d.constant(-1)).r[0], d.div(d.constant(1), x).r[0]);
  const auto square = d.mul(x, x);
  const auto root = d.pow(square, d.constant(0.5));
  EXPECT_EQ(d.mul(root, root).r[0], square.r[0]);
  EXPECT_NE(d.pow(x, d.constant(0.3)).r[0], d.pow(x, d.constant(0.7)).r[0]);
}

}  // namespace
}  // namespace mirage::interp
