// What the CUDA compiler has built in, for the host's compiler: included before everything else.
#pragma once

#include <cmath>
#include <cstdint>

#include "mirage/host/interface.h"

/// Set before a kernel is called.
extern "C" {
__attribute__((visibility("default"))) mirage::host::Kit* mirage_host_kit = nullptr;
}

#define __device__
#define __global__ __attribute__((visibility("default")))
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
// Functions of the kit do what instrumented code is checked for.
#define MIRAGE_KIT inline __attribute__((no_sanitize("thread")))

struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

namespace mirage::host {

template <uint32_t Kit::*kMember>
struct Coordinate {
  MIRAGE_KIT operator unsigned() const { return mirage_host_kit->*kMember; }
};
template <uint32_t Kit::*kMember>
struct Coordinates {
  Coordinate<kMember> x;
};

template <class T>
MIRAGE_KIT T shuffle(unsigned lanes, T value, int source) {
  ShuffleLane lane{value, source};
  mirage_host_kit->collect(Collective::Shuffle, lanes, &lane);
  return static_cast<T>(lane.value);
}

}  // namespace mirage::host

inline constexpr mirage::host::Coordinates<&mirage::host::Kit::thread> threadIdx{};
inline constexpr mirage::host::Coordinates<&mirage::host::Kit::threads> blockDim{};
inline constexpr mirage::host::Coordinates<&mirage::host::Kit::block> blockIdx{};

MIRAGE_KIT void __syncthreads() { mirage_host_kit->sync_block(); }
MIRAGE_KIT void __syncwarp(unsigned lanes = 0xffffffffu) {
  mirage_host_kit->collect(mirage::host::Collective::Sync, lanes, nullptr);
}
template <class T>
MIRAGE_KIT T __shfl_sync(unsigned lanes, T value, int source) {
  return mirage::host::shuffle(lanes, value, source % 32);
}
template <class T>
MIRAGE_KIT T __shfl_xor_sync(unsigned lanes, T value, int mask) {
  return mirage::host::shuffle(
      lanes, value, static_cast<int>((mirage_host_kit->thread % 32) ^ static_cast<unsigned>(mask)));
}
MIRAGE_KIT int __any_sync(unsigned lanes, int vote) {
  mirage::host::AnyLane lane{vote};
  mirage_host_kit->collect(mirage::host::Collective::Any, lanes, &lane);
  return lane.vote;
}

inline unsigned __float_as_uint(float value) { return __builtin_bit_cast(unsigned, value); }
inline float __uint_as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
