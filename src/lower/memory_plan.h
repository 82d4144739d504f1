#pragma once
// Offsets for memory whose uses are known intervals of time: buffers of the workspace over
// launches, scratch of a kernel over steps.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "util/result.h"

namespace mirage::lower {

constexpr int64_t kAlignment = 64;
/// More than any machine has; a thousand of it can still be counted.
constexpr int64_t kMostBytes = int64_t{1} << 48;

struct Lifetime {
  int64_t bytes = 0;
  size_t first = 0, last = 0;  // inclusive
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // one per lifetime, multiples of kAlignment
  int64_t bytes = 0;
};

/// Lifetimes that share a moment get disjoint memory. Largest first, each at the lowest offset that
/// is free for its whole life. LimitExceeded beyond kMostBytes.
Result<MemoryPlan> plan_memory(std::span<const Lifetime> lifetimes);

}  // namespace mirage::lower
