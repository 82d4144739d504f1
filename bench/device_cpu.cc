// Matrix products and functions of device/cpu on one thread, beside OpenBLAS and the bandwidth of
// reading. The counters give GFLOP/s and the rate at which B is read. OpenBLAS is loaded at run
// time; set OPENBLAS_CORETYPE if it does not know the processor.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <vector>

#include "mirage/cpu/gemm.h"
#include "mirage/cpu/map.h"
#include "mirage/cpu/math.h"
#include "runtime/cpu/blas.h"

namespace {

using namespace mirage::cpu;
using V = Vec<float, Native>;

constexpr int64_t kPool = int64_t{128}
                          << 20;  // elements: many times what caches keep between repetitions

const std::vector<float>& pool() {
  static const std::vector<float> values = [] {
    std::vector<float> v(kPool);
    for (size_t i = 0; i < v.size(); ++i)
      v[i] = static_cast<float>(i * 2654435761u >> 8 & 255) / 256 - 0.5f;
    return v;
  }();
  return values;
}

using Sgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                       const float* a, int lda, const float* b, int ldb, float beta, float* c,
                       int ldc);

enum class Rival { Mirage, OpenBlas };

template <Rival kRival, int64_t kM, int64_t kN, int64_t kK, bool kTransposed>
void product(benchmark::State& state) {
  const auto sgemm = kRival == Rival::OpenBlas
                         ? reinterpret_cast<Sgemm>(mirage::runtime::blas_function("cblas_sgemm"))
                         : nullptr;
  if (kRival == Rival::OpenBlas && !sgemm) {
    state.SkipWithError("no libopenblas.so.0 here");
    return;
  }
  const std::vector<float> a(pool().begin(), pool().begin() + kM * kK);
  std::vector<float> c(kM * kN);
  Workspace workspace;
  // A large B is another one in each repetition, so that it comes from memory.
  const int64_t copies = kN * kK >= int64_t{1} << 22 ? kPool / (kN * kK) : 1;
  int64_t turn = 0;
  for (auto _ : state) {
    const float* const b = pool().data() + turn++ % copies * kN * kK;
    if constexpr (kRival == Rival::OpenBlas) {
      sgemm(101, 111, kTransposed ? 112 : 111, kM, kN, kK, 1, a.data(), kK, b,
            kTransposed ? kK : kN, 0, c.data(), kN);
    } else {
      const std::conditional_t<kTransposed, NByK<float>, KByN<float>> view{b,
                                                                           kTransposed ? kK : kN};
      gemm<float, Native>(kExtent<kM>, kExtent<kN>, kExtent<kK>, Tile<const float>{a.data(), kK, 1},
                          view, c.data(), kN, workspace);
    }
    benchmark::DoNotOptimize(c.data());
  }
  const auto rate = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * kM * kN * kK, rate);
  state.counters["GB/s"] = benchmark::Counter(4e-9 * kN * kK, rate);
}

#define MIRAGE_PRODUCT(m, n, k)                                                               \
  BENCHMARK(product<Rival::Mirage, m, n, k, false>)->Name("xW/mirage/" #m "x" #n "x" #k);     \
  BENCHMARK(product<Rival::OpenBlas, m, n, k, false>)->Name("xW/openblas/" #m "x" #n "x" #k); \
  BENCHMARK(product<Rival::Mirage, m, n, k, true>)->Name("xWt/mirage/" #m "x" #n "x" #k);     \
  BENCHMARK(product<Rival::OpenBlas, m, n, k, true>)->Name("xWt/openblas/" #m "x" #n "x" #k)

MIRAGE_PRODUCT(1, 4096, 4096);
MIRAGE_PRODUCT(8, 4096, 4096);
MIRAGE_PRODUCT(16, 4096, 4096);
MIRAGE_PRODUCT(32, 4096, 4096);
MIRAGE_PRODUCT(64, 4096, 4096);
MIRAGE_PRODUCT(256, 64, 4096);
MIRAGE_PRODUCT(256, 4096, 64);
MIRAGE_PRODUCT(1024, 1024, 1024);
MIRAGE_PRODUCT(64, 64, 64);
MIRAGE_PRODUCT(16, 16, 16);

void read_memory(benchmark::State& state) {
  for (auto _ : state) {
    V sums[4] = {V(0), V(0), V(0), V(0)};
    for (int64_t i = 0; i < kPool; i += 4 * V::kLanes) {
      for (int way = 0; way < 4; ++way) sums[way] += V::load(pool().data() + i + way * V::kLanes);
    }
    benchmark::DoNotOptimize(reduce_add((sums[0] + sums[1]) + (sums[2] + sums[3])));
  }
  state.counters["GB/s"] =
      benchmark::Counter(4e-9 * kPool, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(read_memory);

template <class F>
void function(benchmark::State& state, F f) {
  std::vector<float> in(pool().begin(), pool().begin() + 2048), out(2048);
  for (float& x : in) x = x * 8 + 4.1f;
  for (auto _ : state) {
    map_rows<V>(1, 2048, Contiguous{out.data(), 0}, f, Contiguous{in.data(), 0});
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * 2048);
}
BENCHMARK_CAPTURE(function, exp, [](V x) { return exp(x); });
BENCHMARK_CAPTURE(function, log, [](V x) { return log(x); });
BENCHMARK_CAPTURE(function, tanh, [](V x) { return tanh(x); });
BENCHMARK_CAPTURE(function, sigmoid, [](V x) { return sigmoid(x); });
BENCHMARK_CAPTURE(function, silu, [](V x) { return silu(x); });
BENCHMARK_CAPTURE(function, gelu, [](V x) { return gelu(x); });

}  // namespace
