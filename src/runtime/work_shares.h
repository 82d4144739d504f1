#pragma once
// Which worker runs which items of a parallel loop: each has a share of its own, the same from call
// to call, so that what it left in its caches serves it again; who is done takes from the others.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace mirage::runtime {

class WorkShares {
 public:
  struct Range {
    int64_t begin = 0, end = 0;
    bool is_empty() const { return begin >= end; }
  };

  WorkShares(int64_t items, int workers) : shares_(static_cast<size_t>(workers)) {
    for (int64_t i = 0; i < workers; ++i) {
      Share& share = shares_[static_cast<size_t>(i)];
      share.next = items * i / workers;
      share.end = items * (i + 1) / workers;
    }
    // Long runs keep neighbours in one cache; several a worker even out what they cost.
    run_ = workers == 1 ? std::max<int64_t>(1, items) : std::max<int64_t>(1, items / (workers * 8));
  }

  /// The worker's next items; empty when all are taken. From any thread.
  Range take(int worker) {
    for (size_t i = 0; i < shares_.size(); ++i) {
      Share& share = shares_[(static_cast<size_t>(worker) + i) % shares_.size()];
      if (share.next.load(std::memory_order_relaxed) >= share.end) continue;
      const int64_t begin = share.next.fetch_add(run_, std::memory_order_relaxed);
      if (begin < share.end) return {begin, std::min(share.end, begin + run_)};
    }
    return {};
  }

 private:
  struct alignas(64) Share {  // a cache line of its own
    std::atomic<int64_t> next = 0;
    int64_t end = 0;
  };
  std::vector<Share> shares_;
  int64_t run_ = 1;
};

}  // namespace mirage::runtime
