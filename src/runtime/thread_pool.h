#pragma once
// A few threads that wait for work: one parallel loop at a time. Owned by whoever runs programs and
// shared by its executables; there is no global pool. A forked child starts threads of its own.

#include <atomic>
#include <functional>

namespace mirage::runtime {

class ThreadPool {
 public:
  ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  /// Calls body(worker) once for every worker in [0, workers), the calling thread being worker 0;
  /// returns when all have. Threads are started when first needed; where the system refuses one,
  /// the caller does its part. Calls from several threads take turns. If bodies throw, the first
  /// such exception is thrown again once all have ended.
  void run(int workers, const std::function<void(int)>& body);

 private:
  class Crew;
  Crew& crew();

  std::atomic<Crew*> crew_ = nullptr;
};

}  // namespace mirage::runtime
