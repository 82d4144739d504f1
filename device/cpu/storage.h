// Storage types narrower than the compute types, and their exact scalar conversions.
//
// Arithmetic is always done in float or double; Bf16 and F16 exist in memory only. Every narrowing
// rounds once, to nearest even, also from double (which would round twice if it went through
// float).
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace mirage::cpu {

struct Bf16 {
  uint16_t bits;
};

struct F16 {
  uint16_t bits;
};

inline float to_float(float value) { return value; }
inline float to_float(Bf16 value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }
inline float to_float(F16 value) {
  const uint32_t magnitude = value.bits & 0x7fffu;
  const uint32_t sign = (value.bits & 0x8000u) << 16;
  // The exponent bias differs by 112; the multiplication applies it and normalises subnormals in
  // one go.
  float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  uint32_t bits = std::bit_cast<uint32_t>(scaled);
  if (magnitude >= 0x7c00u) bits |= 0x7f800000u;
  return std::bit_cast<float>(bits | sign);
}

/// Float nearest to a double in the sense "round to odd": rounding its result once more to a type
/// with at most 22 bits of mantissa gives the correctly rounded value of the double.
inline float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  if (back == value || value != value) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  const bool is_above = (value < 0 ? -back : back) > (value < 0 ? -value : value);
  if (is_above) --bits;
  return std::bit_cast<float>(bits | 1u);
}

template <class S>
S narrow(float value);

template <>
inline float narrow<float>(float value) {
  return value;
}
template <>
inline Bf16 narrow<Bf16>(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return {static_cast<uint16_t>((bits >> 16) | 0x40u)};  // stays a NaN, becomes quiet
  bits += 0x7fffu + ((bits >> 16) & 1u);
  return {static_cast<uint16_t>(bits >> 16)};
}
template <>
inline F16 narrow<F16>(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t result;
  if (magnitude > 0x7f800000u) {
    result = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {  // 65520, halfway between the largest f16 and 2^16
    result = 0x7c00u;
  } else if (magnitude <
             0x38800000u) {  // below 2^-14: the last place of 0.5f is the unit of f16 subnormals
    result = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) -
             std::bit_cast<uint32_t>(0.5f);
  } else {
    magnitude += 0xfffu + ((magnitude >> 13) & 1u);
    result = (magnitude - (112u << 23)) >> 13;
  }
  return {static_cast<uint16_t>(sign | result)};
}

/// One element from any storage type to a compute type, and back.
template <class T, class S>
T widen(S value) {
  if constexpr (std::is_same_v<S, double>) {
    return static_cast<T>(value);
  } else {
    return static_cast<T>(to_float(value));
  }
}
template <class S, class T>
S convert(T value) {
  if constexpr (std::is_floating_point_v<S>) {
    return static_cast<S>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return narrow<S>(round_to_odd(value));
  } else {
    return narrow<S>(value);
  }
}

}  // namespace mirage::cpu
