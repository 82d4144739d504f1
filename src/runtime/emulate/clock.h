#pragma once
// Which accesses of other threads a thread must have seen: vector clocks. Threads of a cluster and
// barriers that copies arrive at are components; each counts its own time.
//
// Clocks are shared and never change: after a barrier all its threads have the same one.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace mirage::runtime::emulate {

using Component = uint16_t;
using Time = uint32_t;

/// A moment of a component; time 0 is before everything.
struct Epoch {
  Time time = 0;
  Component by = 0;
};

/// For each component the last moment that has been seen.
using Clock = std::vector<Time>;
using Seen = std::shared_ptr<const Clock>;

inline bool has_seen(const Clock& clock, Epoch epoch) {
  return epoch.time == 0 || (epoch.by < clock.size() && clock[epoch.by] >= epoch.time);
}

/// Joins of two clocks, remembered: threads of a warp ask for the same ones.
class Joins {
 public:
  Seen join(const Seen& a, const Seen& b);

 private:
  struct Known {
    Seen a, b, both;
  };
  std::array<Known, 64> known_;
};

/// What arrives at a barrier, until it lets go.
class Gathering {
 public:
  void add(const Seen& seen, Epoch own);
  /// All of it together; empty again then.
  Seen finish(Joins& joins);

 private:
  std::vector<Seen> seen_;  // different ones
  std::vector<Epoch> own_;
};

}  // namespace mirage::runtime::emulate
