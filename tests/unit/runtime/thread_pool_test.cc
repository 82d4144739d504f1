#include "runtime/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>

namespace mirage::runtime {
namespace {

TEST(ThreadPool, CallsEveryWorkerOnce) {
  ThreadPool pool;
  for (int workers : {1, 2, 5, 3, 1, 8}) {
    std::vector<std::atomic<int>> calls(static_cast<size_t>(workers));
    pool.run(workers, [&](int worker) { ++calls[static_cast<size_t>(worker)]; });
    for (const auto& count : calls) EXPECT_EQ(count, 1);
  }
}

TEST(ThreadPool, CallersTakeTurns) {
  ThreadPool pool;
  std::atomic<int> inside = 0, total = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        pool.run(3, [&](int) {
          EXPECT_LE(++inside, 3);
          ++total;
          --inside;
        });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 50 * 3);
}

}  // namespace
}  // namespace mirage::runtime
