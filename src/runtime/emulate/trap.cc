#include "runtime/emulate/trap.h"

namespace mirage::runtime::emulate {
namespace {

constexpr size_t kStackBytes = size_t{64} << 10;

TrapGuard::Handler& handler() {
  static thread_local TrapGuard::Handler of_this_thread = nullptr;
  return of_this_thread;
}

}  // namespace

TrapGuard::TrapGuard(Handler wanted) : stack_(std::make_unique<std::byte[]>(kStackBytes)) {
  handler() = wanted;
  stack_t stack{};
  stack.ss_sp = stack_.get();
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, &stack_before_);
  // Not deferred: the handler is left for another stack, and the next signal must find it again.
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
}

TrapGuard::~TrapGuard() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  sigaltstack(&stack_before_, nullptr);
  handler() = nullptr;
}

void TrapGuard::on_signal(int signal, siginfo_t* info, void* /*context*/) {
  if (handler() != nullptr) handler()(signal, info->si_addr);
  // The instruction is tried again, without us.
  ::signal(signal, SIG_DFL);
}

}  // namespace mirage::runtime::emulate
