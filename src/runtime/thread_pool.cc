#include "runtime/thread_pool.h"

namespace mirage::runtime {
namespace {

// Launches follow each other within microseconds; waking a thread costs more. Spinning gives up
// after about 20 us, so that idle pools cost nothing.
template <class Condition>
void spin_until(Condition condition) {
  for (int i = 0; i < 400 && !condition(); ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
  }
}

}  // namespace

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::work(int worker, uint64_t seen) {
  for (;;) {
    const std::function<void(int)>* body = nullptr;
    spin_until([&] { return generation_.load(std::memory_order_relaxed) != seen; });
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return is_stopping_ || generation_ != seen; });
      if (is_stopping_) return;
      seen = generation_;
      if (worker >= workers_) continue;
      body = body_;
    }
    (*body)(worker);
    std::lock_guard lock(mutex_);
    if (unfinished_.fetch_sub(1, std::memory_order_relaxed) == 1) done_.notify_one();
  }
}

void ThreadPool::run(int workers, const std::function<void(int)>& body) {
  if (workers <= 1) return body(0);
  std::lock_guard turn(turn_);
  {
    std::lock_guard lock(mutex_);
    while (static_cast<int>(threads_.size()) + 1 < workers) {
      const int worker = static_cast<int>(threads_.size()) + 1;
      threads_.emplace_back([this, worker, seen = generation_.load()] { work(worker, seen); });
    }
    body_ = &body;
    workers_ = workers;
    unfinished_ = workers - 1;
    ++generation_;
  }
  wake_.notify_all();
  body(0);
  spin_until([&] { return unfinished_.load(std::memory_order_relaxed) == 0; });
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return unfinished_ == 0; });
}

}  // namespace mirage::runtime
