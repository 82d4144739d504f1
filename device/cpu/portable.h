// Instruction-set kit without intrinsics: 16-byte vectors of the compiler, one lane at a time where
// it has no operator.
//
// A kit is `Kit<T, Isa>` for T in {float, double}: the raw vector type, the integer vector of the
// same lanes, and the few operations that compilers' vector types lack. Vec (vec.h) is written once
// over it. All kits have the same members.
#pragma once

#include <cmath>
#include <cstring>

#include "mirage/cpu/storage.h"

namespace mirage::cpu {

template <class T, class Isa>
struct Kit;

struct Portable {
  static constexpr const char* kName = "portable";
  static constexpr bool kHasFma = false;
  static constexpr int kRegisters = 16;  // of vectors
  // Register tile of the matrix product: rows x vectors of accumulators, see gemm.h.
  static constexpr int kTileRows = 4;
  static constexpr int kTileVectors = 2;
};

/// Loads and stores lane by lane: what each kit falls back to for rare pairs of types and for
/// tails.
template <class K>
struct LaneAccess {
  template <class S>
  static auto load_lanes(const S* from, int count) {
    typename K::Raw raw{};
    for (int i = 0; i < count; ++i) raw[i] = widen<typename K::Element>(from[i]);
    return raw;
  }
  template <class S, class Raw>
  static void store_lanes(S* to, Raw raw, int count) {
    for (int i = 0; i < count; ++i) to[i] = convert<S>(static_cast<typename K::Element>(raw[i]));
  }
};

template <class T>
struct PortableTypes;
template <>
struct PortableTypes<float> {
  typedef float Raw __attribute__((vector_size(16)));
  typedef int32_t Int __attribute__((vector_size(16)));
};
template <>
struct PortableTypes<double> {
  typedef double Raw __attribute__((vector_size(16)));
  typedef int64_t Int __attribute__((vector_size(16)));
};

template <class T>
struct Kit<T, Portable> : PortableTypes<T>, LaneAccess<Kit<T, Portable>> {
  using Element = T;
  using Raw = typename PortableTypes<T>::Raw;
  using Int = typename PortableTypes<T>::Int;
  static constexpr int kLanes = 16 / sizeof(T);

  static Raw fma(Raw a, Raw b, Raw c) { return a * b + c; }  // rounds twice
  static Raw min(Raw a, Raw b) { return a < b ? a : b; }
  static Raw max(Raw a, Raw b) { return a > b ? a : b; }
  static Raw divide(Raw a, Raw b) { return a / b; }
  static Raw sqrt(Raw a) {
    for (int i = 0; i < kLanes; ++i) a[i] = std::sqrt(a[i]);
    return a;
  }

  static Raw load(const T* from) {
    Raw raw;
    std::memcpy(&raw, from, sizeof raw);
    return raw;
  }
  template <class S>
  static Raw load(const S* from) {
    return Kit::load_lanes(from, kLanes);
  }
  template <class S>
  static Raw load_part(const S* from, int count) {
    return Kit::load_lanes(from, count);
  }
  static void store(T* to, Raw raw) { std::memcpy(to, &raw, sizeof raw); }
  template <class S>
  static void store(S* to, Raw raw) {
    Kit::store_lanes(to, raw, kLanes);
  }
  template <class S>
  static void store_part(S* to, Raw raw, int count) {
    Kit::store_lanes(to, raw, count);
  }
};

}  // namespace mirage::cpu
