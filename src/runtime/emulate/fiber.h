#pragma once
// Threads of a kernel as fibers of one thread of the host: each has a stack, and runs until it
// gives way.

#include <cstddef>

#include "util/result.h"

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace mirage::runtime::emulate {

/// Where a fiber, or the thread that started it, goes on.
struct Context {
#if defined(__x86_64__)
  void* stack = nullptr;
#else
  ucontext_t state;
#endif
};

/// Saves in `from` where this is, and goes on at `to`.
void switch_context(Context& from, Context& to);

/// Memory of stacks, with a page below each that nobody may touch.
class Stacks {
 public:
  static constexpr size_t kBytes = size_t{128} << 10;

  Stacks() = default;
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks();

  /// At least so many. Nothing may run on those that were there.
  Result<void> reserve(size_t count);
  std::byte* lowest(size_t index) const { return memory_ + index * kSpacing + kPage; }
  bool contains(size_t index, const void* address) const {
    const auto* const at = static_cast<const std::byte*>(address);
    return at >= lowest(index) && at < lowest(index) + kBytes;
  }

  /// Whether an address is where the stack has no place any more.
  bool is_below(size_t index, const void* address) const {
    const auto* const at = static_cast<const std::byte*>(address);
    return at >= lowest(index) - kPage && at < lowest(index);
  }

  /// A context in which entry(argument) begins on a stack. It must not return.
  void start(size_t index, Context& context, void (*entry)(void*), void* argument) const;

 private:
  static constexpr size_t kPage = 4096, kSpacing = kBytes + kPage;

  std::byte* memory_ = nullptr;
  size_t count_ = 0;
};

}  // namespace mirage::runtime::emulate
