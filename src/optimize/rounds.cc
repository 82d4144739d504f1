#include "optimize/rounds.h"

#include <algorithm>
#include <numeric>

namespace mirage::optimize {

std::vector<size_t> contenders(std::span<const tune::Timing> timings, size_t least, double margin) {
  std::vector<size_t> order(timings.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (order.empty()) return order;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return timings[a].median_us < timings[b].median_us; });
  const double reach = timings[order[0]].median_high_us * (1 + margin);
  size_t kept = 0;
  std::erase_if(order, [&](size_t i) {
    const bool stays = kept < least || timings[i].median_low_us <= reach;
    kept += stays ? 1 : 0;
    return !stays;
  });
  return order;
}

}  // namespace mirage::optimize
