// Linked into each test program of device/cpu and compiled for the baseline: leaves before any code
// runs that this processor may lack. 77 tells ctest that the program was skipped.
#include <cstdio>
#include <cstdlib>

namespace {

[[gnu::constructor(101)]] void require_isa() {
  __builtin_cpu_init();
#if defined(MIRAGE_TEST_AVX512)
  const bool is_supported =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#elif defined(MIRAGE_TEST_AVX2)
  const bool is_supported = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  const bool is_supported = true;
#endif
  if (is_supported) return;
  std::puts("skipped: this processor lacks the instruction set under test");
  std::fflush(stdout);
  std::_Exit(77);
}

}  // namespace
