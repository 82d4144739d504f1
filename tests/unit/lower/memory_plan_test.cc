#include "lower/memory_plan.h"

#include <gtest/gtest.h>

#include "util/rng.h"

namespace mirage::lower {
namespace {

TEST(PlanMemory, SharesMemoryOfDisjointLives) {
  const Lifetime lives[] = {{100, 0, 1}, {100, 2, 3}};
  const MemoryPlan plan = *plan_memory(lives);
  EXPECT_EQ(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.bytes, 128);
}

TEST(PlanMemory, KeepsApartWhatSharesOneMoment) {
  const Lifetime lives[] = {{64, 0, 1}, {64, 1, 2}};
  const MemoryPlan plan = *plan_memory(lives);
  EXPECT_NE(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.bytes, 128);
}

TEST(PlanMemory, RefusesWhatCannotBeCounted) {
  const int64_t large = int64_t{1} << 62, half = kMostBytes / 2 + 1;
  const Lifetime one[] = {{large, 0, 1}}, both[] = {{half, 0, 1}, {half, 1, 2}},
                 apart[] = {{half, 0, 1}, {half, 2, 2}};
  EXPECT_EQ(plan_memory(one).error().code, Code::LimitExceeded);
  EXPECT_EQ(plan_memory(both).error().code, Code::LimitExceeded);
  EXPECT_TRUE(plan_memory(apart));
}

TEST(PlanMemory, RandomLivesNeverOverlap) {
  const uint64_t seed = 5;
  SCOPED_TRACE(seed);
  Rng rng(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lives(1 + rng.below(20));
    for (Lifetime& life : lives) {
      life.bytes = static_cast<int64_t>(rng.below(1000));
      life.first = rng.below(20);
      life.last = life.first + rng.below(6);
    }
    const MemoryPlan plan = *plan_memory(lives);
    for (size_t i = 0; i < lives.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % kAlignment, 0);
      EXPECT_LE(plan.offsets[i] + lives[i].bytes, plan.bytes);
      for (size_t j = i + 1; j < lives.size(); ++j) {
        if (lives[i].last < lives[j].first || lives[j].last < lives[i].first) continue;
        EXPECT_TRUE(plan.offsets[i] + lives[i].bytes <= plan.offsets[j] ||
                    plan.offsets[j] + lives[j].bytes <= plan.offsets[i]);
      }
    }
  }
}

}  // namespace
}  // namespace mirage::lower
