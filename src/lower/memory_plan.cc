#include "lower/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace mirage::lower {

Result<MemoryPlan> plan_memory(std::span<const Lifetime> lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<size_t> placed;  // by offset
  for (size_t i : order) {
    const Lifetime& life = lifetimes[i];
    if (life.bytes > kMostBytes)
      return fail(Code::LimitExceeded, "a value needs {} bytes, at most {} are possible",
                  life.bytes, kMostBytes);
    const int64_t bytes = (life.bytes + kAlignment - 1) / kAlignment * kAlignment;
    int64_t offset = 0;
    for (size_t other : placed) {
      const Lifetime& neighbour = lifetimes[other];
      if (neighbour.last < life.first || life.last < neighbour.first) continue;
      if (offset + bytes <= plan.offsets[other]) break;
      const int64_t end = plan.offsets[other] + neighbour.bytes;
      offset = std::max(offset, (end + kAlignment - 1) / kAlignment * kAlignment);
    }
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    if (plan.bytes > kMostBytes)
      return fail(Code::LimitExceeded, "values need more than {} bytes at a time", kMostBytes);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), i,
                         [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; }),
        i);
  }
  return plan;
}

}  // namespace mirage::lower
