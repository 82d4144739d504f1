#include "runtime/emulate/clock.h"

#include <algorithm>

namespace mirage::runtime::emulate {
namespace {

bool contains(const Clock& a, const Clock& b) {
  for (size_t i = 0; i < b.size(); ++i)
    if (b[i] > (i < a.size() ? a[i] : 0)) return false;
  return true;
}

Seen joined(const Seen& a, const Seen& b) {
  if (contains(*a, *b)) return a;
  if (contains(*b, *a)) return b;
  Clock both(std::max(a->size(), b->size()));
  for (size_t i = 0; i < both.size(); ++i)
    both[i] = std::max(i < a->size() ? (*a)[i] : 0, i < b->size() ? (*b)[i] : 0);
  return std::make_shared<const Clock>(std::move(both));
}

}  // namespace

Seen Joins::join(const Seen& a, const Seen& b) {
  if (a == b || !b) return a;
  if (!a) return b;
  const auto bits =
      reinterpret_cast<uintptr_t>(a.get()) / 16 * 31 + reinterpret_cast<uintptr_t>(b.get()) / 16;
  Known& known = known_[(bits ^ bits >> 6) % known_.size()];
  if (known.a != a || known.b != b) known = {a, b, joined(a, b)};
  return known.both;
}

void Gathering::add(const Seen& seen, Epoch own) {
  if (std::find(seen_.begin(), seen_.end(), seen) == seen_.end()) seen_.push_back(seen);
  own_.push_back(own);
}

Seen Gathering::finish(Joins& joins) {
  Seen all;
  for (const Seen& seen : seen_) all = joins.join(all, seen);
  Clock clock = all ? *all : Clock();
  for (const Epoch& epoch : own_) {
    if (epoch.by >= clock.size()) clock.resize(size_t{epoch.by} + 1);
    clock[epoch.by] = std::max(clock[epoch.by], epoch.time);
  }
  seen_.clear();
  own_.clear();
  return std::make_shared<const Clock>(std::move(clock));
}

}  // namespace mirage::runtime::emulate
