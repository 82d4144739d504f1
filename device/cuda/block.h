// The threads of a block, and what they do together. Blocks are one-dimensional, of whole warps.
#pragma once

#include "mirage/cuda/kit.h"

namespace mirage::cuda {

inline constexpr int kWarp = 32;
inline constexpr int kMostWarps = 32;

inline __device__ int thread() { return static_cast<int>(threadIdx.x); }
inline __device__ int threads() { return static_cast<int>(blockDim.x); }
inline __device__ int lane() { return thread() % kWarp; }
inline __device__ int warp() { return thread() / kWarp; }
inline __device__ int warps() { return threads() / kWarp; }
inline __device__ int64_t block_index() { return static_cast<int64_t>(blockIdx.x); }

inline __device__ void sync() { __syncthreads(); }

inline __device__ float from_lane_xor(float value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
inline __device__ double from_lane_xor(double value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
inline __device__ float from_lane(float value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}

/// The combination over all lanes of a warp, in every lane.
template <class Op, class T>
__device__ T combine_warp(T value) {
#pragma unroll
  for (int mask = kWarp / 2; mask > 0; mask /= 2)
    value = Op::combine(value, from_lane_xor(value, mask));
  return value;
}

/// f(row, col) for all of rows x cols, neighbouring threads on neighbouring columns.
template <class F>
__device__ void for_each(int64_t rows, int64_t cols, const F& f) {
  const int64_t count = rows * cols;
  if (count < 1ll << 31) {
    const uint32_t width = static_cast<uint32_t>(cols), end = static_cast<uint32_t>(count);
    for (uint32_t i = static_cast<uint32_t>(thread()); i < end;
         i += static_cast<uint32_t>(threads()))
      f(static_cast<int64_t>(i / width), static_cast<int64_t>(i % width));
    return;
  }
  for (int64_t i = thread(); i < count; i += threads()) f(i / cols, i % cols);
}

}  // namespace mirage::cuda
