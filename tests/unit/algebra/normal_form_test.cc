#include "algebra/normal_form.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "algebra/prove.h"

namespace mirage::algebra {
namespace {

class NormalForm : public ::testing::Test {
 protected:
  Nf in(uint32_t tensor, std::initializer_list<std::vector<Var>> lists) {
    return arena.input(tensor, std::vector<std::vector<Var>>(lists));
  }
  Nf one() { return arena.number(1); }
  std::string text(Nf a) { return to_string(arena, a); }
  void expect_same(Nf a, Nf b) {
    EXPECT_TRUE(a.is_valid() && b.is_valid());
    EXPECT_EQ(a, b) << text(a) << "\n" << text(b);
  }
  void expect_different(Nf a, Nf b) {
    EXPECT_TRUE(a.is_valid() && b.is_valid());
    EXPECT_NE(a, b) << text(a);
  }

  Arena arena;
  Node m = arena.index().root("m"), k = arena.index().root("k"), n = arena.index().root("n"),
       e = arena.index().root("e");
  Var vm = free_var(m), vk = free_var(k), vn = free_var(n), ve = free_var(e);
};

TEST_F(NormalForm, SumsOfMonomialsAreCommutative) {
  const Nf x = in(0, {{vm}}), y = in(1, {{vm}}), z = in(2, {{vm}});
  expect_same(arena.add(x, arena.add(y, z)), arena.add(arena.add(z, x), y));
  expect_same(arena.mul(x, arena.add(y, z)), arena.add(arena.mul(z, x), arena.mul(y, x)));
  expect_same(arena.sub(x, x), arena.number(0));
  expect_same(arena.div(arena.mul(x, y), y), x);
  expect_same(arena.add(x, x), arena.mul(arena.literal(2), x));
  expect_different(arena.add(x, y), arena.add(x, z));
}

TEST_F(NormalForm, RmsNormCommutesWithMatmul) {
  const Nf x = in(0, {{vm}, {vk}}), w = in(1, {{vk}, {vn}});
  const Nf mean = arena.div(arena.sum(arena.square(x), {{vk}}), arena.size(k));
  const Nf rms = arena.sqrt(mean);
  const Nf before = arena.sum(arena.mul(arena.div(x, rms), w), {{vk}});
  const Nf after = arena.div(arena.sum(arena.mul(x, w), {{vk}}), rms);
  expect_same(before, after);
  expect_different(before, arena.div(arena.sum(arena.mul(x, w), {{vk}}), mean));
  // A sum over columns is not a sum over rows.
  expect_different(arena.sum(x, {{vk}}), arena.sum(x, {{vm}}));
}

TEST_F(NormalForm, SafeSoftmaxIsSoftmax) {
  const Nf a = arena.sum(arena.mul(in(0, {{vm}, {vk}}), in(1, {{vk}, {vn}})), {{vk}});
  const Nf v = in(2, {{vn}, {ve}});
  const auto softmax_times_v = [&](Nf logits) {
    const Nf x = arena.exp(logits);
    const Nf p = arena.div(x, arena.sum(x, {{vn}}));
    return arena.sum(arena.mul(p, v), {{vn}});
  };
  const Nf shifted = arena.sub(a, arena.maximum_over(a, {{vn}}));
  expect_same(softmax_times_v(a), softmax_times_v(shifted));
  // Normalise after the product with v.
  const Nf x = arena.exp(a);
  expect_same(softmax_times_v(a),
              arena.div(arena.sum(arena.mul(x, v), {{vn}}), arena.sum(x, {{vn}})));
}

TEST_F(NormalForm, RowsOfSoftmaxSumToOne) {
  const Nf x = arena.exp(in(0, {{vm}, {vn}}));
  expect_same(arena.sum(arena.div(x, arena.sum(x, {{vn}})), {{vn}}), one());
}

TEST_F(NormalForm, ThreeWaySplitOfASum) {
  const Parts parts = arena.index().split(k, 1, kGrid | kLoop | kTile);
  const Var g = free_var(parts.grid), f = free_var(parts.loop), t = free_var(parts.tile);
  const Nf full = arena.sum(arena.mul(in(0, {{vm}, {vk}}), in(1, {{vk}, {vn}})), {{vk}});
  const Nf partial = arena.mul(in(0, {{vm}, {g, f, t}}), in(1, {{g, f, t}, {vn}}));
  expect_same(arena.sum(arena.sum(arena.sum(partial, {{t}}), {{f}}), {{g}}), full);
  expect_same(arena.sum(partial, std::vector{f, g, t}), full);
  // Not the same slice in both operands: never a full sum.
  const Nf wrong = arena.mul(in(0, {{vm}, {g, f, t}}), in(1, {{f, g, t}, {vn}}));
  expect_different(arena.sum(wrong, std::vector{f, g, t}), full);
  // A maximum over tiles, then over the loop, then over blocks.
  const Nf x = in(0, {{vm}, {g, f, t}});
  expect_same(arena.maximum_over(arena.maximum_over(arena.maximum_over(x, {{t}}), {{f}}), {{g}}),
              arena.maximum_over(in(0, {{vm}, {vk}}), {{vk}}));
  // Splitting by substitution and storing.
  const Nf loaded =
      arena.substitute(in(0, {{vm}, {vk}}), std::vector<Substitution>{{vk, {g, f, t}}});
  expect_same(loaded, x);
  expect_same(arena.merge_free(arena.exp(loaded)), arena.exp(in(0, {{vm}, {vk}})));
  // Sizes multiply.
  expect_same(
      arena.mul(arena.mul(arena.size(parts.grid), arena.size(parts.tile)), arena.size(parts.loop)),
      arena.size(k));
}

TEST_F(NormalForm, NestedPartialSumsMergeInsideRoots) {
  const Parts parts = arena.index().split(k, 1, kLoop | kTile);
  const Var f = free_var(parts.loop), t = free_var(parts.tile);
  const Nf x = in(0, {{vm}, {vk}}), split = in(0, {{vm}, {f, t}});
  const Nf norm = arena.sqrt(arena.sum(arena.square(x), {{vk}}));
  const Nf norm_split = arena.sqrt(arena.sum(arena.sum(arena.square(split), {{t}}), {{f}}));
  expect_same(norm, norm_split);
  expect_same(arena.sum(arena.exp(norm), {{vm}}), arena.sum(arena.exp(norm_split), {{vm}}));
}

TEST_F(NormalForm, SymmetricBinders) {
  // trace of X Y = trace of Y X; and the square of a sum against a double sum.
  const Nf xy = arena.mul(in(0, {{vm}, {vk}}), in(1, {{vk}, {vm}}));
  expect_same(arena.sum(arena.sum(xy, {{vk}}), {{vm}}), arena.sum(xy, std::vector{vm, vk}));
  const Var k2 = free_var(k, 1), k3 = free_var(k, 2);
  const Nf a = in(0, {{vk}, {k2}}), b = in(0, {{k2}, {k3}}), c = in(0, {{k3}, {vk}});
  const Nf cycle = arena.mul(a, arena.mul(b, c));
  expect_same(arena.sum(cycle, std::vector{vk, k2, k3}), arena.sum(cycle, std::vector{k3, vk, k2}));
  const Nf s = arena.sum(in(0, {{vk}}), {{vk}});
  expect_same(arena.square(s),
              arena.sum(arena.mul(in(0, {{vk}}), in(0, {{k2}})), std::vector{k2, vk}));
  expect_different(arena.square(s), arena.sum(arena.square(in(0, {{vk}})), {{vk}}));
}

TEST_F(NormalForm, VarianceByMoments) {
  const Nf x = in(0, {{vm}, {vk}});
  const Nf size = arena.size(k);
  const Nf mean = arena.div(arena.sum(x, {{vk}}), size);
  const Nf centred = arena.div(arena.sum(arena.square(arena.sub(x, mean)), {{vk}}), size);
  const Nf moments =
      arena.sub(arena.div(arena.sum(arena.square(x), {{vk}}), size), arena.square(mean));
  expect_same(centred, moments);
}

TEST_F(NormalForm, AccumulatingAnInvariantIsVisible) {
  const Nf x = in(0, {{vm}});
  expect_different(arena.sum(x, {{vk}}), x);
  expect_same(arena.sum(x, {{vk}}), arena.mul(arena.size(k), x));
}

TEST_F(NormalForm, IdentitiesOfReciprocalsAndRoots) {
  const Nf x = in(0, {{vm}}), y = in(1, {{vm}});
  const Nf s = arena.add(x, y);
  expect_same(arena.add(arena.reciprocal(x), arena.reciprocal(y)), arena.div(s, arena.mul(x, y)));
  expect_same(arena.add(arena.div(x, s), arena.div(y, s)), one());
  expect_same(arena.mul(arena.exp(x), arena.exp(arena.neg(x))), one());
  expect_same(arena.mul(arena.sqrt(s), arena.sqrt(s)), s);
  expect_same(arena.div(s, arena.sqrt(s)), arena.sqrt(s));
  expect_same(arena.div(one(), arena.sqrt(s)), arena.reciprocal(arena.sqrt(s)));
  expect_same(arena.sqrt(arena.exp(x)), arena.exp(arena.mul(arena.literal(0.5), x)));
  expect_same(arena.sqrt(arena.add(arena.add(x, x), arena.add(y, y))),
              arena.mul(arena.sqrt(arena.number(2)), arena.sqrt(s)));
  expect_same(arena.mul(arena.sqrt(arena.number(2)), arena.sqrt(arena.number(2))), arena.number(2));
  expect_different(arena.sqrt(arena.square(x)), x);  // |x|
  expect_same(arena.log(arena.exp(x)), x);
  expect_same(arena.exp(arena.log(x)), x);
  // Log-sum-exp with and without a shift.
  const Nf z = in(2, {{vm}, {vk}}), shift = in(3, {{vm}});
  expect_same(arena.log(arena.sum(arena.exp(z), {{vk}})),
              arena.add(shift, arena.log(arena.sum(arena.exp(arena.sub(z, shift)), {{vk}}))));
}

TEST_F(NormalForm, CrossMultiplication) {
  const Nf x = in(0, {{vm}}), y = in(1, {{vm}});
  const Nf x1 = arena.add(x, one()), y1 = arena.add(y, one());
  const Nf difference = arena.sub(arena.reciprocal(x1), arena.reciprocal(y1));
  const Nf common = arena.div(arena.sub(y, x), arena.mul(x1, y1));
  EXPECT_NE(difference, common);
  EXPECT_TRUE(equal_after_cross_multiplication(arena, difference, common));
  EXPECT_FALSE(equal_after_cross_multiplication(arena, difference, arena.neg(common)));
  EXPECT_TRUE(equal_after_cross_multiplication(arena,
                                               arena.sub(arena.reciprocal(x), arena.reciprocal(x1)),
                                               arena.reciprocal(arena.mul(x, x1))));
  EXPECT_TRUE(equal_after_cross_multiplication(
      arena, arena.div(arena.sub(arena.square(x), arena.square(y)), arena.sub(x, y)),
      arena.add(x, y)));
}

TEST_F(NormalForm, Maxima) {
  const Nf x = in(0, {{vm}, {vk}}), y = in(1, {{vm}});
  const Nf zero = arena.number(0);
  expect_same(arena.maximum(x, x), x);
  expect_same(arena.maximum(x, arena.maximum(y, x)), arena.maximum(y, x));
  expect_same(arena.maximum(arena.maximum(x, zero), arena.number(2)),
              arena.maximum(x, arena.number(2)));
  expect_same(arena.maximum_over(arena.maximum(x, y), {{vk}}),
              arena.maximum(arena.maximum_over(x, {{vk}}), y));
  expect_different(arena.maximum(x, y), arena.minimum(x, y));
  expect_same(arena.maximum(arena.exp(x), zero), arena.exp(x));
  expect_different(arena.maximum(x, zero), x);
}

TEST_F(NormalForm, LiteralsThatAreNotDyadicAreUnits) {
  expect_same(arena.mul(arena.literal(0.125), arena.literal(8)), one());
  expect_different(arena.mul(arena.literal(0.1), arena.literal(10)), one());
  expect_same(arena.mul(arena.literal(0.1), arena.literal(-0.1)),
              arena.neg(arena.square(arena.literal(0.1))));
  EXPECT_FALSE(arena.literal(std::numeric_limits<double>::infinity()).is_valid());
  EXPECT_FALSE(arena.literal(std::nan("")).is_valid());
}

TEST_F(NormalForm, NoMeaningIsInvalidNotACrash) {
  const Nf x = in(0, {{vm}});
  EXPECT_FALSE(arena.reciprocal(arena.sub(x, x)).is_valid());
  EXPECT_FALSE(arena.sqrt(arena.number(-1)).is_valid());
  EXPECT_FALSE(arena.add(arena.reciprocal(arena.number(0)), x).is_valid());
  Nf wide = x;
  for (uint32_t i = 1; i < 30; ++i) wide = arena.add(wide, in(i, {{vm}}));
  Nf other = arena.mul(wide, in(99, {{vk}}));
  other = arena.add(other, one());
  EXPECT_FALSE(arena.mul(wide, other).is_valid() &&
               arena.mul(arena.mul(wide, other), other).is_valid());
  expect_same(arena.mul(x, one()), x);  // still usable
}

TEST_F(NormalForm, SquaresOfLongSumsStayLazy) {
  const Nf s = arena.add(in(0, {{vm}}), arena.add(in(1, {{vm}}), in(2, {{vm}})));
  const Nf square = arena.square(s);
  EXPECT_EQ(arena.monomials(square).size(), 1u);
  expect_same(arena.sqrt(arena.square(arena.exp(s))), arena.exp(s));
  expect_same(arena.square(arena.mul(s, arena.number(3))), arena.mul(arena.number(9), square));
}

TEST_F(NormalForm, HashesAgreeBetweenArenas) {
  Arena other;
  const Node m2 = other.index().root("rows");
  const Nf a = arena.exp(in(3, {{vm}}));
  (void)other.number(7);
  const std::vector<std::vector<Var>> lists{{free_var(m2)}};
  const Nf b = other.exp(other.input(3, lists));
  EXPECT_EQ(arena.hash(a), other.hash(b));
}

}  // namespace
}  // namespace mirage::algebra
