// Copies that the hardware does by itself, ahead of the warps that read them. Needs compute
// capability 9.0.
#pragma once

#include "mirage/cuda/block.h"

namespace mirage::cuda {

/// The first address of shared memory from `data` on that is a multiple of kBytes.
template <int kBytes>
__device__ unsigned char* align_shared(unsigned char* data) {
  return data + (kBytes - shared_address(data) % kBytes) % kBytes;
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
    struct Barriers;
    full_ = shared_address(shared_array<uint64_t, 2 * kStages, Barriers>());
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
