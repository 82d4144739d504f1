#include "runtime/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

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

TEST(ThreadPool, RunsFollowEachOtherAtAnyPace) {
  // Gaps around the time that threads spin before they sleep, where a wake-up could be lost.
  ThreadPool pool;
  std::atomic<int> total = 0;
  for (int round = 0; round < 3000; ++round) {
    pool.run(2 + round % 3, [&](int) { ++total; });
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(round % 120);
    while (std::chrono::steady_clock::now() < end) {
    }
  }
  EXPECT_EQ(total, 1000 * (2 + 3 + 4));
}

TEST(ThreadPool, ManyPoolsComeAndGo) {
  for (int i = 0; i < 200; ++i) {
    ThreadPool pool, unused;
    std::atomic<int> total = 0;
    for (int round = 0; round < i % 3; ++round) pool.run(4, [&](int) { ++total; });
    EXPECT_EQ(total, i % 3 * 4);
  }
}

TEST(ThreadPool, PoolsNest) {
  ThreadPool outer;
  std::atomic<int> total = 0;
  outer.run(3, [&](int) {
    ThreadPool inner;
    inner.run(3, [&](int) { ++total; });
  });
  EXPECT_EQ(total, 9);
}

TEST(ThreadPool, AnExceptionComesOutWhenAllHaveEnded) {
  ThreadPool pool;
  for (int thrower : {0, 1, 3, -1, 2}) {
    std::atomic<int> ended = 0;
    const auto body = [&](int worker) {
      if (worker == thrower) throw std::runtime_error("part " + std::to_string(worker));
      ++ended;
    };
    if (thrower < 0) {
      EXPECT_NO_THROW(pool.run(4, body));
      EXPECT_EQ(ended, 4);
    } else {
      EXPECT_THROW(pool.run(4, body), std::runtime_error);
      EXPECT_EQ(ended, 3);
    }
  }
  const auto all = [](int) { throw std::runtime_error("all"); };
  EXPECT_THROW(pool.run(4, all), std::runtime_error);
}

#ifndef __SANITIZE_THREAD__  // which allows no threads after fork
/// The exit status of a child that does this.
int status_of_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // instead of a hang
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(ThreadPool, AForkedChildHasThreadsOfItsOwn) {
  ThreadPool pool;
  pool.run(3, [](int) {});
  const auto counts = [&] {
    std::atomic<int> total = 0;
    for (int i = 0; i < 10; ++i) pool.run(3, [&](int) { ++total; });
    return total == 30;
  };
  EXPECT_EQ(status_of_child(counts), 0);
  EXPECT_TRUE(counts());

  // While another thread of the parent is in a run.
  std::atomic<bool> is_inside = false, may_end = false;
  std::thread other([&] {
    pool.run(3, [&](int worker) {
      if (worker != 0) return;
      is_inside = true;
      while (!may_end) std::this_thread::yield();
    });
  });
  while (!is_inside) std::this_thread::yield();
  EXPECT_EQ(status_of_child(counts), 0);
  may_end = true;
  other.join();
  EXPECT_TRUE(counts());
}

#ifndef __SANITIZE_ADDRESS__  // which dies without memory
TEST(ThreadPool, WithoutMoreThreadsTheCallerDoesTheirPart) {
  // In a child, as the limit would stay.
  const auto run = [] {
    ThreadPool pool;
    pool.run(2, [](int) {});
    const rlimit none{1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_AS, &none) != 0) return false;  // no memory for a stack
    std::atomic<int> calls[5] = {};
    pool.run(5, [&](int worker) { ++calls[worker]; });
    for (const auto& count : calls)
      if (count != 1) return false;
    return true;
  };
  EXPECT_EQ(status_of_child(run), 0);
}
#endif
#endif

}  // namespace
}  // namespace mirage::runtime
