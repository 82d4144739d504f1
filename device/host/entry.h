// Included behind generated text: how the machine calls its kernels, and what the compiler's thread
// sanitizer calls at each access to memory. Its own library is not linked.
#pragma once

#include "mirage/host/kit.h"

namespace mirage::host {

/// The next one of a kernel's parameters: tensor maps, then the addresses of buffers.
struct Arguments {
  const cuda::TensorMap* maps;
  void* const* buffers;

  template <class P>
  MIRAGE_KIT P next() {
    if constexpr (cuda::kIsSame<P, cuda::TensorMap>) {
      return *maps++;
    } else {
      return static_cast<P>(*buffers++);
    }
  }
};

template <class... Parameters>
struct Call {
  MIRAGE_KIT Call(void (*kernel)(Parameters...), Parameters... parameters) {
    kernel(parameters...);
  }
};

template <class... Parameters>
MIRAGE_KIT void call(void (*kernel)(Parameters...), Arguments arguments) {
  // A list in braces is evaluated in its order.
  Call<Parameters...>{kernel, arguments.next<Parameters>()...};
}

}  // namespace mirage::host

#define MIRAGE_HOST_KERNEL(name)                                                             \
  extern "C" __global__ __attribute__((no_sanitize("thread"))) void mirage_host_call_##name( \
      const mirage::cuda::TensorMap* maps, void* const* buffers) {                           \
    mirage::host::call(mirage::cuda::name, {maps, buffers});                                 \
  }

#define MIRAGE_HOOK \
  extern "C" __attribute__((no_sanitize("thread"), visibility("hidden"), used)) void
#define MIRAGE_ACCESS(name, bytes, kind)                                                         \
  MIRAGE_HOOK name(void* at) {                                                                   \
    mirage_host_kit->access(at, bytes, mirage::host::Access::kind, __builtin_return_address(0)); \
  }
MIRAGE_ACCESS(__tsan_read1, 1, Read)
MIRAGE_ACCESS(__tsan_read2, 2, Read)
MIRAGE_ACCESS(__tsan_read4, 4, Read)
MIRAGE_ACCESS(__tsan_read8, 8, Read)
MIRAGE_ACCESS(__tsan_read16, 16, Read)
MIRAGE_ACCESS(__tsan_write1, 1, Write)
MIRAGE_ACCESS(__tsan_write2, 2, Write)
MIRAGE_ACCESS(__tsan_write4, 4, Write)
MIRAGE_ACCESS(__tsan_write8, 8, Write)
MIRAGE_ACCESS(__tsan_write16, 16, Write)
MIRAGE_ACCESS(__tsan_unaligned_read2, 2, Read)
MIRAGE_ACCESS(__tsan_unaligned_read4, 4, Read)
MIRAGE_ACCESS(__tsan_unaligned_read8, 8, Read)
MIRAGE_ACCESS(__tsan_unaligned_read16, 16, Read)
MIRAGE_ACCESS(__tsan_unaligned_write2, 2, Write)
MIRAGE_ACCESS(__tsan_unaligned_write4, 4, Write)
MIRAGE_ACCESS(__tsan_unaligned_write8, 8, Write)
MIRAGE_ACCESS(__tsan_unaligned_write16, 16, Write)
MIRAGE_HOOK __tsan_init() {}
MIRAGE_HOOK __tsan_func_entry(void*) {}
MIRAGE_HOOK __tsan_func_exit() {}
