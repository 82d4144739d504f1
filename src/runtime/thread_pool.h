#pragma once
// A few threads that wait for work: one parallel loop at a time. Owned by whoever runs programs and
// shared by its executables; there is no global pool.

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace mirage::runtime {

class ThreadPool {
 public:
  ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  /// Calls body(worker) once for every worker in [0, workers), the calling thread being worker 0;
  /// returns when all have. Threads are started when first needed. Calls from several threads take
  /// turns.
  void run(int workers, const std::function<void(int)>& body);

 private:
  void work(int worker, uint64_t seen);
  void post(int workers);

  std::mutex turn_;  // held for a whole run
  std::vector<std::thread> threads_;
  const std::function<void(int)>* body_ = nullptr;
  // What threads wait for: the number of the run above, how many workers it has below. A run of no
  // workers ends the threads.
  std::atomic<uint64_t> ticket_ = 0;
  std::atomic<int> unfinished_ = 0;
};

}  // namespace mirage::runtime
