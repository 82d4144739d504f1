// Storage types narrower than the compute types, and their exact scalar conversions. Arithmetic is
// always done in float or double; every narrowing rounds once, to nearest even, also from double.
#pragma once

#include "mirage/cuda/kit.h"

namespace mirage::cuda {

struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};

inline __device__ float to_float(float value) { return value; }
inline __device__ float to_float(Bf16 value) {
  return __uint_as_float(static_cast<uint32_t>(value.bits) << 16);
}
inline __device__ float to_float(F16 value) { return float_of_f16(value.bits); }

/// Float nearest to a double in the sense "round to odd": rounding its result once more to a type
/// with at most 22 bits of mantissa gives the correctly rounded value of the double.
inline __device__ float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  if (back == value || value != value) return nearest;
  uint32_t bits = __float_as_uint(nearest);
  const bool is_above = (value < 0 ? -back : back) > (value < 0 ? -value : value);
  if (is_above) --bits;
  return __uint_as_float(bits | 1u);
}

template <class S>
struct Narrow;
template <>
struct Narrow<float> {
  static __device__ float from(float value) { return value; }
};
template <>
struct Narrow<Bf16> {
  static __device__ Bf16 from(float value) { return {bf16_of(value)}; }
};
template <>
struct Narrow<F16> {
  static __device__ F16 from(float value) { return {f16_of(value)}; }
};

/// One element from any storage type to a compute type, and back.
template <class T, class S>
__device__ T widen(S value) {
  if constexpr (kIsSame<S, double>) {
    return static_cast<T>(value);
  } else {
    return static_cast<T>(to_float(value));
  }
}
template <class S, class T>
__device__ S convert(T value) {
  if constexpr (kIsSame<S, double> || (kIsSame<S, float> && kIsSame<T, double>)) {
    return static_cast<S>(value);
  } else if constexpr (kIsSame<T, double>) {
    return Narrow<S>::from(round_to_odd(value));
  } else {
    return Narrow<S>::from(value);
  }
}

template <class S, class T>
__device__ void put(S* to, T value) {
  *to = convert<S>(value);
}

}  // namespace mirage::cuda
