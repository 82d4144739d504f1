#include "runtime/thread_pool.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

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

/// The threads of one process.
class ThreadPool::Crew {
 public:
  Crew() = default;
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  bool is_of_this_process() const { return process_ == getpid(); }
  void run(int workers, const std::function<void(int)>& body);

 private:
  void work(int worker, uint64_t seen);
  void post(int workers);
  int grow(int workers);
  void do_part(int worker) noexcept;

  const pid_t process_ = getpid();
  std::mutex turn_;  // held for a whole run
  std::vector<std::thread> threads_;
  const std::function<void(int)>* body_ = nullptr;
  // What threads wait for: the number of the run above, how many workers it has below. A run of no
  // workers ends the threads.
  std::atomic<uint64_t> ticket_ = 0;
  std::atomic<int> unfinished_ = 0;
  std::mutex failure_mutex_;
  std::exception_ptr failure_;  // the first one of a run
};

ThreadPool::Crew::~Crew() {
  post(0);
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Crew::post(int workers) {
  const uint64_t run = (ticket_.load(std::memory_order_relaxed) >> kWorkerBits) + 1;
  ticket_.store(run << kWorkerBits | static_cast<uint64_t>(workers));
  ticket_.notify_all();
}

void ThreadPool::Crew::do_part(int worker) noexcept {
  try {
    (*body_)(worker);
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void ThreadPool::Crew::work(int worker, uint64_t seen) {
  for (;;) {
    spin_until([&] { return ticket_.load(std::memory_order_relaxed) != seen; });
    ticket_.wait(seen);
    seen = ticket_.load();
    const int workers = static_cast<int>(seen & ((uint64_t{1} << kWorkerBits) - 1));
    if (workers == 0) return;
    // Nothing of a run may be looked at by those who have no part in it: it does not wait for them.
    if (worker >= workers) continue;
    do_part(worker);
    if (unfinished_.fetch_sub(1) == 1) unfinished_.notify_one();
  }
}

/// How many workers there are then: fewer where the system has no more threads to give.
int ThreadPool::Crew::grow(int workers) {
  try {
    while (static_cast<int>(threads_.size()) + 1 < workers) {
      const int worker = static_cast<int>(threads_.size()) + 1;
      threads_.emplace_back([this, worker, seen = ticket_.load()] { work(worker, seen); });
    }
  } catch (const std::system_error&) {
    return static_cast<int>(threads_.size()) + 1;
  }
  return workers;
}

void ThreadPool::Crew::run(int workers, const std::function<void(int)>& body) {
  std::lock_guard turn(turn_);
  const int present = grow(workers);
  body_ = &body;
  unfinished_.store(present - 1);
  post(present);
  do_part(0);
  for (int worker = present; worker < workers; ++worker) do_part(worker);
  spin_until([&] { return unfinished_.load(std::memory_order_relaxed) == 0; });
  for (int left = unfinished_.load(); left != 0; left = unfinished_.load()) unfinished_.wait(left);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

ThreadPool::~ThreadPool() {
  Crew* const crew = crew_.load();
  if (crew && crew->is_of_this_process()) delete crew;
}

/// A child has none of its parent's threads, and a lock may be held by one of them for ever: the
/// parent's crew is left alone.
ThreadPool::Crew& ThreadPool::crew() {
  Crew* known = crew_.load();
  if (known && known->is_of_this_process()) return *known;
  auto fresh = std::make_unique<Crew>();
  if (crew_.compare_exchange_strong(known, fresh.get())) return *fresh.release();
  return *known;  // another thread came first
}

void ThreadPool::run(int workers, const std::function<void(int)>& body) {
  if (workers <= 1) return body(0);
  MIRAGE_CHECK(workers < 1 << kWorkerBits, "more workers than a ticket can name");
  crew().run(workers, body);
}

}  // namespace mirage::runtime
