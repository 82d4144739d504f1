// Time of one field check (reference and candidate on one random point) at the small sizes.

#include "verify/field_check.h"

#include <benchmark/benchmark.h>

#include "ir/text.h"
#include "verify/shrink.h"

namespace mirage::verify {
namespace {

void check_pair(benchmark::State& state, const char* a, const char* b) {
  const ir::GraphPtr reference = ir::parse(a).value()[0], candidate = ir::parse(b).value()[0];
  const SmallPair pair = shrink(*reference, *candidate).value();
  const auto check = make_field_check(*pair.reference, *pair.candidate);
  uint64_t seed = 1;
  for (auto _ : state) {
    auto trial = check->trial(seed++, false);
    if (!trial || !trial->is_defined || !trial->equal[0][0]) state.SkipWithError("not equal");
    benchmark::DoNotOptimize(trial);
  }
}

BENCHMARK_CAPTURE(check_pair, attention, R"(
kernel @p(%q: f32[256,64], %k: f32[64,4096], %v: f32[4096,64]) {
  %e = exp (matmul %q, %k)
  %o = matmul (div %e, (sum %e axis=1)), %v
  return %o
})",
                  R"(
kernel @c(%q: f32[256,64], %k: f32[64,4096], %v: f32[4096,64]) {
  %o = block(%q, %k, %v) axes(m: grid 4, j: loop 64) {
    %a = load %q [m, .]
    %t = load %k [., j]
    %u = load %v [j, .]
    %e = exp (matmul %a, %t)
    %l = accum sum (sum %e axis=1)
    %p = accum sum (matmul %e, %u)
    store (div %p, %l) [m, .]
  }
  return %o
})");
BENCHMARK_CAPTURE(check_pair, rms_linear, R"(
kernel @p(%x: f32[16,4096], %w: f32[4096,6144]) {
  %n = div %x, sqrt (mean (square %x) axis=1)
  %y = matmul %n, %w
  return %y
})",
                  R"(
kernel @c(%x: f32[16,4096], %w: f32[4096,6144]) {
  %y = block(%x, %w) axes(n: grid 96, k: loop 64) {
    %a = load %x [., k]
    %b = load %w [k, n]
    %s = accum sum (matmul %a, %b)
    %q = accum sum (sum (square %a) axis=1)
    %e = extent %x axis=1
    store (div %s, sqrt (div %q, %e)) [., n]
  }
  return %y
})");

}  // namespace
}  // namespace mirage::verify
