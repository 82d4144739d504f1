// Copies that the hardware does by itself, and the barriers in shared memory that count their
// bytes. Needs compute capability 9.0.
#pragma once

#include "mirage/cuda/block.h"

namespace mirage::cuda {

/// A tensor in global memory as the copy engine sees it; made by the driver on the host.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

inline __device__ uint32_t shared_address(const void* data) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(data));
}

/// The first address of shared memory from `data` on that is a multiple of kBytes.
template <int kBytes>
__device__ unsigned char* align_shared(unsigned char* data) {
  return data + (kBytes - shared_address(data) % kBytes) % kBytes;
}

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

/// A ring of stages in shared memory, filled by one thread ahead of the warps that read them.
template <int kStages, int kStageBytes, int kReaders>
class Ring {
 public:
  /// `memory` is aligned to 1024 bytes. Every thread of the block makes one; `ask(stage address,
  /// barrier, step)` announces the bytes of a step and asks for its copies.
  template <class Ask>
  __device__ Ring(void* memory, int steps, const Ask& ask)
      : base_(shared_address(memory)), steps_(steps) {
    __shared__ __align__(8) uint64_t barriers[2 * kStages];
    full_ = shared_address(barriers);
    empty_ = full_ + 8 * kStages;
    if (is_feeder()) {
      for (int i = 0; i < kStages; ++i) {
        barrier_init(full_ + 8 * i, 1);
        barrier_init(empty_ + 8 * i, kReaders);
      }
      barriers_ready();
      for (int step = 0; step < kStages && step < steps; ++step)
        ask(base_ + step * kStageBytes, full_ + 8 * step, step);
    }
    sync();
  }

  /// The warp behind the readers.
  static __device__ bool is_feeder() { return thread() == kReaders * kWarp; }

  /// Refills stages as they become free.
  template <class Ask>
  __device__ void feed(const Ask& ask) const {
    if (is_feeder()) {
      int stage = 0, parity = 0;
      for (int step = kStages; step < steps_; ++step) {
        barrier_wait(empty_ + 8 * stage, parity);
        ask(base_ + stage * kStageBytes, full_ + 8 * stage, step);
        if (++stage == kStages) stage = 0, parity ^= 1;
      }
    }
    __syncwarp();
  }

  /// Address of the next step's stage, when its bytes are there.
  __device__ uint32_t wait() const {
    barrier_wait(full_ + 8 * stage_, parity_);
    return base_ + stage_ * kStageBytes;
  }
  /// This warp has read the stage.
  __device__ void release() {
    __syncwarp();
    if (lane() == 0) barrier_arrive(empty_ + 8 * stage_);
    if (++stage_ == kStages) stage_ = 0, parity_ ^= 1;
  }

 private:
  uint32_t base_, full_, empty_;
  int steps_, stage_ = 0, parity_ = 0;
};

}  // namespace mirage::cuda
