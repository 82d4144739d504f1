// Barriers in shared memory that count arrivals and bytes, and copies by the engine that fetches
// boxes of tensors. Needs compute capability 9.0.
#pragma once

#include "mirage/cuda/types.h"

namespace mirage::cuda {

/// A tensor in global memory as the copy engine sees it; made by the driver on the host.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

/// A barrier's phase ends when `count` threads have arrived and all announced bytes are there.
inline __device__ void barrier_init(uint32_t barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
/// Makes initialised barriers visible to the copy engine; a block barrier is still needed.
inline __device__ void barriers_ready() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
inline __device__ void barrier_expect(uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
inline __device__ void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Returns when the phase of this parity has ended.
inline __device__ void barrier_wait(uint32_t barrier, int parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Asks for the box at these coordinates, innermost first; its bytes count at `barrier`. Elements
/// outside the tensor are zero.
inline __device__ void copy_box(uint32_t to, const TensorMap& map, uint32_t barrier, int x) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%3}], "
      "[%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x)
      : "memory");
}
inline __device__ void copy_box(uint32_t to, const TensorMap& map, uint32_t barrier, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
      "%4}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y)
      : "memory");
}
inline __device__ void copy_box(uint32_t to, const TensorMap& map, uint32_t barrier, int x, int y,
                                int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
      "%4, %5}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}
inline __device__ void copy_box(uint32_t to, const TensorMap& map, uint32_t barrier, int x, int y,
                                int z, int u) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
      "%4, %5, %6}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(u)
      : "memory");
}

}  // namespace mirage::cuda
