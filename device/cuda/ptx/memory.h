// Shared memory by arrays and by 32-bit addresses; loads that CUDA C++ has no expression for.
#pragma once

#include "mirage/cuda/types.h"

namespace mirage::cuda {

/// An array in the block's shared memory, the same one for all threads; another one for each Tag.
template <class T, int kCount, class Tag>
__device__ T* shared_array() {
  __shared__ T memory[kCount];
  return memory;
}
/// The shared memory that a launch asks for, aligned to 128 bytes.
inline __device__ unsigned char* launch_memory() {
  extern __shared__ __align__(128) unsigned char memory_of_launch[];
  return memory_of_launch;
}

inline __device__ uint32_t shared_address(const void* data) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(data));
}

inline __device__ uint32_t load_shared(uint32_t address) {
  uint32_t word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
  return word;
}
inline __device__ void load_shared(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

/// Four 8 x 8 matrices of 16-bit elements by a warp: lane 8 i + r gives the address of row r of
/// matrix i, lane 4 g + q gets of each matrix row g, columns 2 q and 2 q + 1.
inline __device__ void load_matrices(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
/// The same of the transposed matrices: columns become rows.
inline __device__ void load_transposed(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

/// kBytes (2, 4, 8 or 16) from global memory that no one writes, at words[0] and on; zeros, and
/// nothing read, unless `exists`.
template <int kBytes>
__device__ void load_words(uint32_t* words, const void* from, bool exists) {
  const uint64_t at = static_cast<uint64_t>(__cvta_generic_to_global(from));
  const int is_there = exists;
  if constexpr (kBytes == 16) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.s32 p, %5, 0;\nmov.b32 %0, 0;\nmov.b32 %1, 0;\nmov.b32 %2, 0;\n"
        "mov.b32 %3, 0;\n@p ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];\n}"
        : "=&r"(words[0]), "=&r"(words[1]), "=&r"(words[2]), "=&r"(words[3])
        : "l"(at), "r"(is_there));
  } else if constexpr (kBytes == 8) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.s32 p, %3, 0;\nmov.b32 %0, 0;\nmov.b32 %1, 0;\n"
        "@p ld.global.nc.v2.b32 {%0, %1}, [%2];\n}"
        : "=&r"(words[0]), "=&r"(words[1])
        : "l"(at), "r"(is_there));
  } else if constexpr (kBytes == 4) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\nmov.b32 %0, 0;\n@p ld.global.nc.b32 %0, [%1];\n}"
        : "=&r"(words[0])
        : "l"(at), "r"(is_there));
  } else {
    uint16_t half;
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\nmov.b16 %0, 0;\n@p ld.global.nc.b16 %0, [%1];\n}"
        : "=&h"(half)
        : "l"(at), "r"(is_there));
    words[0] = half;
  }
}

}  // namespace mirage::cuda
