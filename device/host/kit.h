// The names of device/cuda/ptx on the host: calls of the machine that runs the text, which checks
// each.
#pragma once

#include "mirage/cpu/storage.h"
#include "mirage/cuda/types.h"
#include "mirage/host/language.h"

namespace mirage::cuda {

// ---- numbers ----

MIRAGE_KIT float float_of_f16(uint16_t bits) { return cpu::to_float(cpu::F16{bits}); }
MIRAGE_KIT uint16_t f16_of(float value) { return cpu::narrow<cpu::F16>(value).bits; }
MIRAGE_KIT uint16_t bf16_of(float value) { return cpu::narrow<cpu::Bf16>(value).bits; }
MIRAGE_KIT uint32_t f16_pair(float low, float high) {
  return f16_of(low) | static_cast<uint32_t>(f16_of(high)) << 16;
}
MIRAGE_KIT uint32_t bf16_pair(float low, float high) {
  return bf16_of(low) | static_cast<uint32_t>(bf16_of(high)) << 16;
}
MIRAGE_KIT float exp2_approximate(float x) {
  const float result = std::exp2(std::fabs(x) < 0x1p-126f ? 0.0f : x);
  return result < 0x1p-126f ? 0.0f : result;
}
MIRAGE_KIT float larger_or_nan(float a, float b) { return a != a ? a : b != b ? b : a > b ? a : b; }
MIRAGE_KIT float smaller_or_nan(float a, float b) {
  return a != a ? a : b != b ? b : a < b ? a : b;
}

// ---- memory ----

template <class T, int kCount, class Tag>
MIRAGE_KIT T* shared_array() {
  static constexpr char kTag = 0;
  return static_cast<T*>(
      mirage_host_kit->shared_array(&kTag, kCount * static_cast<uint32_t>(sizeof(T)), alignof(T)));
}
MIRAGE_KIT unsigned char* launch_memory() {
  return static_cast<unsigned char*>(mirage_host_kit->launch_memory());
}
MIRAGE_KIT uint32_t shared_address(const void* data) {
  return mirage_host_kit->shared_address(data);
}
MIRAGE_KIT uint32_t load_shared(uint32_t address) {
  return *static_cast<const uint32_t*>(mirage_host_kit->at_shared(address, 4, host::Access::Read));
}
MIRAGE_KIT void load_shared(uint32_t (&r)[4], uint32_t address) {
  const auto* const from =
      static_cast<const uint32_t*>(mirage_host_kit->at_shared(address, 16, host::Access::Read));
  for (int i = 0; i < 4; ++i) r[i] = from[i];
}
MIRAGE_KIT void load_matrices(uint32_t (&r)[4], uint32_t address) {
  host::MatricesLane lane{address, r};
  mirage_host_kit->collect(host::Collective::LoadMatrices, 0xffffffffu, &lane);
}
MIRAGE_KIT void load_transposed(uint32_t (&r)[4], uint32_t address) {
  host::MatricesLane lane{address, r};
  mirage_host_kit->collect(host::Collective::LoadTransposed, 0xffffffffu, &lane);
}
template <int kBytes>
MIRAGE_KIT void load_words(uint32_t* words, const void* from, bool exists) {
  if constexpr (kBytes == 2) {
    words[0] = 0;
  } else {
    for (int i = 0; i < kBytes / 4; ++i) words[i] = 0;
  }
  if (!exists) return;
  mirage_host_kit->access_constant(from, kBytes, __builtin_return_address(0));
  if constexpr (kBytes == 2) {
    words[0] = *static_cast<const uint16_t*>(from);
  } else {
    for (int i = 0; i < kBytes / 4; ++i) words[i] = static_cast<const uint32_t*>(from)[i];
  }
}

// ---- barriers and copies ----

struct alignas(64) TensorMap {
  unsigned char bytes[128];
};
MIRAGE_KIT void barrier_init(uint32_t barrier, int count) {
  mirage_host_kit->barrier_init(barrier, count);
}
MIRAGE_KIT void barriers_ready() { mirage_host_kit->barriers_ready(); }
MIRAGE_KIT void barrier_expect(uint32_t barrier, int bytes) {
  mirage_host_kit->barrier_arrive(barrier, bytes);
}
MIRAGE_KIT void barrier_arrive(uint32_t barrier) { mirage_host_kit->barrier_arrive(barrier, 0); }
MIRAGE_KIT void barrier_wait(uint32_t barrier, int parity) {
  mirage_host_kit->barrier_wait(barrier, parity);
}
template <class... At>
MIRAGE_KIT void copy_box(uint32_t to, const TensorMap& map, uint32_t barrier, At... at) {
  const int coordinates[] = {at...};
  mirage_host_kit->copy_box(to, &map, barrier, coordinates, sizeof...(At));
}

// ---- clusters ----

MIRAGE_KIT int cluster_rank() { return static_cast<int>(mirage_host_kit->rank); }
MIRAGE_KIT void cluster_sync() { mirage_host_kit->sync_cluster(); }
MIRAGE_KIT uint32_t remote_address(const void* data, int rank) {
  return mirage_host_kit->remote_address(shared_address(data), rank);
}
MIRAGE_KIT float load_remote(uint32_t address) {
  return *static_cast<const float*>(mirage_host_kit->at_shared(address, 4, host::Access::Read));
}
MIRAGE_KIT void store_remote(uint32_t address, float value) {
  *static_cast<float*>(mirage_host_kit->at_shared(address, 4, host::Access::Write)) = value;
}

// ---- products ----

MIRAGE_KIT void mma_f16(float* c, const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  host::ProductLane lane{c, a, {b0, b1}};
  mirage_host_kit->collect(host::Collective::ProductF16, 0xffffffffu, &lane);
}
MIRAGE_KIT void mma_bf16(float* c, const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  host::ProductLane lane{c, a, {b0, b1}};
  mirage_host_kit->collect(host::Collective::ProductBf16, 0xffffffffu, &lane);
}

}  // namespace mirage::cuda
