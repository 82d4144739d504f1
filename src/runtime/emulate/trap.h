#pragma once
// Signals that code of a kernel raises, as where a stack ends or a number is divided by zero: the
// process goes on.

#include <signal.h>

#include <array>
#include <cstddef>
#include <memory>

namespace mirage::runtime::emulate {

/// While it lives, signals that this thread's own code raises call a function, on a stack of their
/// own. Where that returns the process ends as if nobody had cared.
class TrapGuard {
 public:
  using Handler = void (*)(int signal, const void* address);

  explicit TrapGuard(Handler handler);
  TrapGuard(const TrapGuard&) = delete;
  TrapGuard& operator=(const TrapGuard&) = delete;
  ~TrapGuard();

 private:
  static constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL};

  static void on_signal(int signal, siginfo_t* info, void* context);

  std::unique_ptr<std::byte[]> stack_;
  stack_t stack_before_{};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace mirage::runtime::emulate
