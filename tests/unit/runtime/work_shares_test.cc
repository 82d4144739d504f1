#include "runtime/work_shares.h"

#include <gtest/gtest.h>

#include <thread>

namespace mirage::runtime {
namespace {

TEST(WorkShares, AWorkerStartsWithItsOwnShareInEveryCall) {
  for (int call = 0; call < 3; ++call) {
    WorkShares shares(64, 2);
    EXPECT_EQ(shares.take(1).begin, 32);
    EXPECT_EQ(shares.take(0).begin, 0);
    EXPECT_EQ(shares.take(1).begin, 36);
  }
}

TEST(WorkShares, WhoIsDoneTakesFromTheOthers) {
  WorkShares shares(10, 3);
  std::vector<int> taken(10);
  for (auto range = shares.take(2); !range.is_empty(); range = shares.take(2))
    for (int64_t i = range.begin; i < range.end; ++i) ++taken[static_cast<size_t>(i)];
  EXPECT_EQ(taken, std::vector<int>(10, 1));
  EXPECT_TRUE(shares.take(0).is_empty());
}

TEST(WorkShares, EveryItemOnceWhateverTheCounts) {
  for (int workers : {1, 2, 3, 7})
    for (int64_t items : {0, 1, 5, 7, 64, 1001}) {
      WorkShares shares(items, workers);
      std::vector<std::atomic<int>> taken(static_cast<size_t>(items));
      std::vector<std::thread> threads;
      for (int worker = 0; worker < workers; ++worker)
        threads.emplace_back([&, worker] {
          for (auto range = shares.take(worker); !range.is_empty(); range = shares.take(worker))
            for (int64_t i = range.begin; i < range.end; ++i) ++taken[static_cast<size_t>(i)];
        });
      for (std::thread& thread : threads) thread.join();
      for (const auto& count : taken) EXPECT_EQ(count, 1) << items << " items, " << workers;
    }
}

}  // namespace
}  // namespace mirage::runtime
