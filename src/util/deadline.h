#pragma once
// When work is given up: at a point in time, or as soon as somebody who waits says so. Long loops
// ask is_over() now and then; what waits for others waits no longer than seconds_left().

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>

namespace mirage {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  using Flag = const std::atomic<bool>*;

  /// Never.
  Deadline() = default;
  explicit Deadline(Clock::time_point end, Flag flag = nullptr) : end_(end), flags_{flag} {}
  static Deadline in_seconds(double seconds, Flag flag = nullptr) {
    return Deadline(after(Clock::now(), seconds), flag);
  }
  /// A point in time, also for more seconds than the clock can count.
  static Clock::time_point after(Clock::time_point start, double seconds) {
    const std::chrono::duration<double> wait(std::clamp(seconds, 0.0, 1e9));
    return start + std::chrono::duration_cast<Clock::duration>(wait);
  }

  /// The same, but not after `end`.
  Deadline no_later_than(Clock::time_point end) const {
    Deadline earlier = *this;
    earlier.end_ = std::min(end_, end);
    return earlier;
  }
  /// The same, but over too when this one is set. There is room for one more flag.
  Deadline or_when(Flag flag) const {
    Deadline other = *this;
    other.flags_[1] = flag;
    return other;
  }

  bool is_cancelled() const {
    return std::any_of(flags_.begin(), flags_.end(),
                       [](Flag flag) { return flag != nullptr && flag->load(); });
  }
  bool is_over() const { return is_cancelled() || Clock::now() >= end_; }
  /// 0 if over.
  double seconds_left() const {
    if (is_cancelled()) return 0;
    return std::max(0.0, std::chrono::duration<double>(end_ - Clock::now()).count());
  }

 private:
  Clock::time_point end_ = Clock::time_point::max();
  std::array<Flag, 2> flags_{};
};

}  // namespace mirage
