#include "runtime/thread_pool.h"

#include <chrono>

#include "util/check.h"

namespace mirage::runtime {
namespace {

constexpr int kWorkerBits = 16;

// Launches follow each other within microseconds, and waking a thread costs as much as a small
// kernel. Idle pools cost nothing: after this long a thread sleeps.
constexpr std::chrono::microseconds kSpin{50};

template <class Condition>
void spin_until(Condition condition) {
  constexpr int kPausesPerLook = 16;  // at the clock
  const auto end = std::chrono::steady_clock::now() + kSpin;
  for (int i = 1; !condition(); ++i) {
    if (i % kPausesPerLook == 0 && std::chrono::steady_clock::now() > end) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
  }
}

}  // namespace

ThreadPool::~ThreadPool() {
  post(0);
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::post(int workers) {
  const uint64_t run = (ticket_.load(std::memory_order_relaxed) >> kWorkerBits) + 1;
  ticket_.store(run << kWorkerBits | static_cast<uint64_t>(workers));
  ticket_.notify_all();
}

void ThreadPool::work(int worker, uint64_t seen) {
  for (;;) {
    spin_until([&] { return ticket_.load(std::memory_order_relaxed) != seen; });
    ticket_.wait(seen);
    seen = ticket_.load();
    const int workers = static_cast<int>(seen & ((uint64_t{1} << kWorkerBits) - 1));
    if (workers == 0) return;
    // Nothing of a run may be looked at by those who have no part in it: it does not wait for them.
    if (worker >= workers) continue;
    (*body_)(worker);
    if (unfinished_.fetch_sub(1) == 1) unfinished_.notify_one();
  }
}

void ThreadPool::run(int workers, const std::function<void(int)>& body) {
  if (workers <= 1) return body(0);
  MIRAGE_CHECK(workers < 1 << kWorkerBits, "more workers than a ticket can name");
  std::lock_guard turn(turn_);
  while (static_cast<int>(threads_.size()) + 1 < workers) {
    const int worker = static_cast<int>(threads_.size()) + 1;
    threads_.emplace_back([this, worker, seen = ticket_.load()] { work(worker, seen); });
  }
  body_ = &body;
  unfinished_.store(workers - 1);
  post(workers);
  body(0);
  spin_until([&] { return unfinished_.load(std::memory_order_relaxed) == 0; });
  for (int left = unfinished_.load(); left != 0; left = unfinished_.load()) unfinished_.wait(left);
}

}  // namespace mirage::runtime
