// Blocks that run together and reach each other's shared memory. Needs compute capability 9.0.
#pragma once

#include "mirage/cuda/ptx/memory.h"

namespace mirage::cuda {

inline __device__ int cluster_rank() {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// All threads of all blocks; what they wrote to shared memory before is seen after.
inline __device__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// The address in another block's shared memory of what is at `data` in this one's.
inline __device__ uint32_t remote_address(const void* data, int rank) {
  uint32_t address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(address)
      : "r"(shared_address(data)), "r"(rank));
  return address;
}
inline __device__ float load_remote(uint32_t address) {
  float value;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
  return value;
}
inline __device__ void store_remote(uint32_t address, float value) {
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}

}  // namespace mirage::cuda
