// Vec<T, Isa>: a register full of float or double, with the operators of arithmetic.
//
// Everything above (math, reductions, matrix product, element-wise loops) is written over it once.
// Storage types are converted on load (exactly) and on store (to nearest even). A partial load
// fills the missing lanes with zero and touches no memory beyond `count` elements; 0 <= count <=
// kLanes.
#pragma once

#include <limits>
#include <utility>

#include "mirage/cpu/target.h"

namespace mirage::cpu {

/// Result of a comparison: a lane is all ones (true) or all zeros.
template <class T, class Isa>
struct Mask {
  typename Kit<T, Isa>::Int raw;

  friend Mask operator&(Mask a, Mask b) { return {a.raw & b.raw}; }
  friend Mask operator|(Mask a, Mask b) { return {a.raw | b.raw}; }
  friend Mask operator~(Mask a) { return {~a.raw}; }
};

template <class T, class Isa>
struct Vec {
  using Element = T;
  using K = Kit<T, Isa>;
  using Raw = typename K::Raw;
  using Int = typename K::Int;
  static constexpr int kLanes = K::kLanes;
  static constexpr int kRegisters = Isa::kRegisters;

  Raw raw;

  Vec() = default;
  Vec(T value) : raw(value - Raw{}) {}  // broadcast; the subtraction keeps the sign of zero
  explicit Vec(Raw value) : raw(value) {}

  template <class S>
  static Vec load(const S* from) {
    return Vec(K::load(from));
  }
  template <class S>
  static Vec load(const S* from, int count) {
    return Vec(K::load_part(from, count));
  }
  /// Lane i from from[i * stride].
  template <class S>
  static Vec load_strided(const S* from, int64_t stride, int count = kLanes) {
    Vec result(Raw{});
    for (int i = 0; i < count; ++i) result.raw[i] = widen<T>(from[i * stride]);
    return result;
  }
  template <class S>
  static Vec broadcast(const S* from) {
    return Vec(widen<T>(*from));
  }
  template <class S>
  void store(S* to) const {
    K::store(to, raw);
  }
  template <class S>
  void store(S* to, int count) const {
    K::store_part(to, raw, count);
  }
  template <class S>
  void store_strided(S* to, int64_t stride, int count = kLanes) const {
    for (int i = 0; i < count; ++i) to[i * stride] = convert<S>(static_cast<T>(raw[i]));
  }

  T operator[](int lane) const { return raw[lane]; }

  friend Vec operator+(Vec a, Vec b) { return Vec(a.raw + b.raw); }
  friend Vec operator-(Vec a, Vec b) { return Vec(a.raw - b.raw); }
  friend Vec operator*(Vec a, Vec b) { return Vec(a.raw * b.raw); }
  friend Vec operator/(Vec a, Vec b) { return Vec(K::divide(a.raw, b.raw)); }
  friend Vec operator-(Vec a) { return Vec(-a.raw); }
  Vec& operator+=(Vec b) { return *this = *this + b; }
  Vec& operator-=(Vec b) { return *this = *this - b; }
  Vec& operator*=(Vec b) { return *this = *this * b; }

  friend Mask<T, Isa> operator<(Vec a, Vec b) { return {a.raw < b.raw}; }
  friend Mask<T, Isa> operator<=(Vec a, Vec b) { return {a.raw <= b.raw}; }
  friend Mask<T, Isa> operator>(Vec a, Vec b) { return {a.raw > b.raw}; }
  friend Mask<T, Isa> operator>=(Vec a, Vec b) { return {a.raw >= b.raw}; }
  friend Mask<T, Isa> operator==(Vec a, Vec b) { return {a.raw == b.raw}; }
  friend Mask<T, Isa> operator!=(Vec a, Vec b) { return {a.raw != b.raw}; }

  /// a * b + c, rounded once where the instruction set can, twice in the portable kit.
  friend Vec fma(Vec a, Vec b, Vec c) { return Vec(K::fma(a.raw, b.raw, c.raw)); }
  /// a < b ? a : b, hence b if either is a NaN. See minimum for the IEEE operation.
  friend Vec min(Vec a, Vec b) { return Vec(K::min(a.raw, b.raw)); }
  /// a > b ? a : b, hence b if either is a NaN. See maximum for the IEEE operation.
  friend Vec max(Vec a, Vec b) { return Vec(K::max(a.raw, b.raw)); }
  friend Vec select(Mask<T, Isa> mask, Vec a, Vec b) { return Vec(mask.raw ? a.raw : b.raw); }

  // A NaN on either side gives a NaN, as NumPy's and PyTorch's maximum and minimum do.
  friend Vec maximum(Vec a, Vec b) { return select(a != a, a, max(a, b)); }
  friend Vec minimum(Vec a, Vec b) { return select(a != a, a, min(a, b)); }

  friend Vec sqrt(Vec a) { return Vec(K::sqrt(a.raw)); }
  friend Vec abs(Vec a) { return from_bits(a.bits() & kMagnitude); }
  friend Vec copysign(Vec magnitude, Vec sign) {
    return from_bits((magnitude.bits() & kMagnitude) | (sign.bits() & ~kMagnitude));
  }
  /// max(a, 0), with NaN kept.
  friend Vec relu(Vec a) { return max(Vec(T{0}), a); }

  Int bits() const { return (Int)raw; }
  static Vec from_bits(Int bits) { return Vec((Raw)bits); }

  /// Lanes [0, count) of a, the others from b.
  friend Vec first_lanes(Vec a, Vec b, int count) {
    return select(
        Mask<T, Isa>{lane_numbers(std::make_integer_sequence<int, kLanes>()) < (Int{} + count)}, a,
        b);
  }

  template <int... Lane>
  static Int lane_numbers(std::integer_sequence<int, Lane...>) {
    return Int{Lane...};
  }

 private:
  static constexpr auto kMagnitude =
      std::numeric_limits<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>::max();
};

/// Adds every lane to the lane `Distance` away (exclusive or), by any associative operation.
template <int Distance, class V, class Combine, int... Lane>
V fold_lanes(V a, Combine combine, std::integer_sequence<int, Lane...>) {
  return combine(a, V(__builtin_shufflevector(a.raw, a.raw, (Lane ^ Distance)...)));
}

/// All lanes combined into one element as a balanced tree; the order never depends on the data.
template <int Distance, class V, class Combine>
typename V::Element reduce_lanes(V a, Combine combine) {
  if constexpr (Distance == 0) {
    return a[0];
  } else {
    return reduce_lanes<Distance / 2>(
        fold_lanes<Distance>(a, combine, std::make_integer_sequence<int, V::kLanes>()), combine);
  }
}

template <class T, class Isa>
T reduce_add(Vec<T, Isa> a) {
  return reduce_lanes<Vec<T, Isa>::kLanes / 2>(a, [](auto x, auto y) { return x + y; });
}
/// Largest lane; a NaN in any lane gives a NaN.
template <class T, class Isa>
T reduce_max(Vec<T, Isa> a) {
  return reduce_lanes<Vec<T, Isa>::kLanes / 2>(a, [](auto x, auto y) { return maximum(x, y); });
}
template <class T, class Isa>
T reduce_min(Vec<T, Isa> a) {
  return reduce_lanes<Vec<T, Isa>::kLanes / 2>(a, [](auto x, auto y) { return minimum(x, y); });
}

template <class T, class Isa>
bool any(Mask<T, Isa> mask) {
  bool result = false;
  for (int i = 0; i < Kit<T, Isa>::kLanes; ++i) result |= mask.raw[i] != 0;
  return result;
}

}  // namespace mirage::cpu
