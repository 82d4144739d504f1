#include "runtime/emulate/fiber.h"

#include <sys/mman.h>

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#if defined(__x86_64__)
extern "C" void mirage_switch_stacks(void** from, void* to);
extern "C" void mirage_begin_fiber();
// What the calling convention wants kept lies on the stack that is left. A new stack looks as if it
// had been left by mirage_begin_fiber, whose r12 and r13 are function and argument.
asm(R"(
.pushsection .text
.hidden mirage_switch_stacks
.globl mirage_switch_stacks
.type mirage_switch_stacks, @function
mirage_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size mirage_switch_stacks, .-mirage_switch_stacks
.hidden mirage_begin_fiber
.globl mirage_begin_fiber
.type mirage_begin_fiber, @function
mirage_begin_fiber:
  movq %r13, %rdi
  callq *%r12
  ud2
.size mirage_begin_fiber, .-mirage_begin_fiber
.popsection
)");
#endif

namespace mirage::runtime::emulate {

#if defined(__x86_64__)

void switch_context(Context& from, Context& to) { mirage_switch_stacks(&from.stack, to.stack); }

void Stacks::start(size_t index, Context& context, void (*entry)(void*), void* argument) const {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(lowest(index), kBytes);  // frames that were never left
#endif
  auto** top = reinterpret_cast<void**>(lowest(index) + kBytes);
  *--top = nullptr;
  *--top = nullptr;  // calls want a multiple of 16 here
  *--top = reinterpret_cast<void*>(&mirage_begin_fiber);
  *--top = nullptr;                         // rbp
  *--top = nullptr;                         // rbx
  *--top = reinterpret_cast<void*>(entry);  // r12
  *--top = argument;                        // r13
  *--top = nullptr;                         // r14
  *--top = nullptr;                         // r15
  context.stack = top;
}

#else

namespace {

void begin(unsigned entry_low, unsigned entry_high, unsigned low, unsigned high) {
  const auto join = [](unsigned a, unsigned b) { return uintptr_t{a} | uintptr_t{b} << 16 << 16; };
  reinterpret_cast<void (*)(void*)>(join(entry_low, entry_high))(
      reinterpret_cast<void*>(join(low, high)));
}

}  // namespace

void switch_context(Context& from, Context& to) { swapcontext(&from.state, &to.state); }

void Stacks::start(size_t index, Context& context, void (*entry)(void*), void* argument) const {
  getcontext(&context.state);
  context.state.uc_stack.ss_sp = lowest(index);
  context.state.uc_stack.ss_size = kBytes;
  context.state.uc_link = nullptr;
  const auto function = reinterpret_cast<uintptr_t>(entry);
  const auto data = reinterpret_cast<uintptr_t>(argument);
  makecontext(&context.state, reinterpret_cast<void (*)()>(&begin), 4,
              static_cast<unsigned>(function), static_cast<unsigned>(function >> 16 >> 16),
              static_cast<unsigned>(data), static_cast<unsigned>(data >> 16 >> 16));
}

#endif

Stacks::~Stacks() {
  if (memory_ != nullptr) munmap(memory_, count_ * kSpacing);
}

Result<void> Stacks::reserve(size_t count) {
  if (count <= count_) return {};
  if (memory_ != nullptr) munmap(memory_, count_ * kSpacing);
  memory_ = nullptr;
  void* const made = mmap(nullptr, count * kSpacing, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED)
    return fail(Code::LimitExceeded, "no memory for the stacks of {} threads", count);
  memory_ = static_cast<std::byte*>(made);
  count_ = count;
  for (size_t i = 0; i < count; ++i) mprotect(memory_ + i * kSpacing, kPage, PROT_NONE);
  return {};
}

}  // namespace mirage::runtime::emulate
