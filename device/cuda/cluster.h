// Blocks that run together and reach each other's shared memory. Needs compute capability 9.0.
#pragma once

#include "mirage/cuda/async.h"

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

/// data[i] of the first block = the combination over all blocks in the order of their ranks; every
/// block does a part. Between two calls of cluster_sync().
template <class Op, int kBlocks>
__device__ void merge_blocks(float* data, int count) {
  for (int i = cluster_rank() * threads() + thread(); i < count; i += kBlocks * threads()) {
    float parts[kBlocks];
#pragma unroll
    for (int rank = 0; rank < kBlocks; ++rank)
      parts[rank] = load_remote(remote_address(data + i, rank));
#pragma unroll
    for (int rank = 1; rank < kBlocks; ++rank) parts[0] = Op::combine(parts[0], parts[rank]);
    store_remote(remote_address(data + i, 0), parts[0]);
  }
}

}  // namespace mirage::cuda
