// pow(x, y) over vectors. Float goes through double; double carries the logarithm in two doubles.
//
// Special cases are those of C's pow: pow(x, 0) = pow(1, y) = 1 even for NaN, negative x needs an
// integral y, and so on.
#pragma once

#include "mirage/cpu/math.h"

namespace mirage::cpu {

/// An unevaluated sum high + low, |low| much smaller.
template <class V>
struct Pair {
  V high, low;
};

/// log(x) for positive finite x to about 2^-63 relative.
template <class Isa>
Pair<Vec<double, Isa>> log_pair(Vec<double, Isa> x) {
  using V = Vec<double, Isa>;
  using F = FloatTraits<double>;
  const auto [e, f] = log_parts(x);
  // s = f / (2 + f) in two parts; log(1 + f) = 2 s + s^3 (2/3 + s^2 tail(s^2))
  const V d = f + V(2.0);
  const V d_low = f - (d - V(2.0));
  const V s = f / d;
  const V sd = s * d;
  const V s_low = ((f - sd) - product_error(s, d, sd) - s * d_low) / d;
  const V z = s * s;
  const V z_low = product_error(s, s, z) + V(2.0) * s * s_low;

  constexpr double kTail[] = {0.40000000000000027,  0.285714285713385607, 0.222222222710774492,
                              0.181818082516073991, 0.153855745004588283, 0.132859672738906154,
                              0.129134960668031517};
  const V two_thirds(2.0 / 3.0);
  const V tail =
      fma(z, polynomial(z, kTail), V(3.7007434154171884681e-17));  // 2/3 has a rounding error
  const V c = two_thirds + tail;
  const V c_low = (two_thirds - c) + tail;

  const V cube = s * z;
  const V cube_low = product_error(s, z, cube) + s * z_low + s_low * z;
  const V t = cube * c;
  const V t_low = product_error(cube, c, t) + cube * c_low + cube_low * c;

  const V k = e * V(F::kLn2Hi);  // exact
  const V two_s = s + s;
  const V head = k + two_s;  // |k| >= |two_s| or k = 0
  const V head_low = select(k == V(0.0), V(0.0), two_s - (head - k));
  const V sum = head + t;
  const V sum_low = t - (sum - head);
  const V low = sum_low + (head_low + (t_low + fma(e, V(F::kLn2Lo), s_low + s_low)));
  const V high = sum + low;
  return {high, low - (high - sum)};
}

template <class T, class Isa>
Mask<T, Isa> is_integral(Vec<T, Isa> magnitude) {
  using V = Vec<T, Isa>;
  const V unit(T(int64_t{1} << FloatTraits<T>::kMantissa));  // from here on all floats are integers
  return (magnitude >= unit) | ((magnitude + unit) - unit == magnitude);
}

/// Given |x|^y, what pow(x, y) is.
template <class T, class Isa>
Vec<T, Isa> finish_pow(Vec<T, Isa> x, Vec<T, Isa> y, Vec<T, Isa> power) {
  using V = Vec<T, Isa>;
  const V one(T{1}), zero(T{0});
  const auto is_whole = is_integral(abs(y));
  const auto is_odd = is_whole & ~is_integral(abs(y) * V(T(0.5)));
  V result = select(abs(x) == one, select(y == y, one, y), power);
  result = select((x < zero) & (x > V(-std::numeric_limits<T>::infinity())) & ~is_whole,
                  V(std::numeric_limits<T>::quiet_NaN()), result);
  result = select(is_odd, copysign(result, x), result);
  result = select(x == x, select(y == y, result, y), x);
  return select((y == zero) | (x == one), one, result);
}

template <class Isa>
Vec<double, Isa> pow(Vec<double, Isa> x, Vec<double, Isa> y) {
  using V = Vec<double, Isa>;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const V a = abs(x);
  const auto is_edge = (a == V(0.0)) | (a == V(kInf));
  const auto [log_high, log_low] = log_pair(a);
  const V high = select(is_edge, log(a), log_high);
  const V product = y * high;
  // Where the product is this large the result is 0 or inf, and the correction would be inf - inf.
  const auto is_moderate = (abs(product) < V(1e4)) & ~is_edge;
  const V low = select(is_moderate, product_error(y, high, product) + y * log_low, V(0.0));
  const V clamped =
      min(V(FloatTraits<double>::kExpHigh), max(V(FloatTraits<double>::kExpLow), product));
  const auto parts = exp_parts(clamped);
  return finish_pow(x, y, scale(fma(parts.fraction, low, parts.fraction), parts));
}

template <class Isa, int... Lane>
Vec<float, Isa> pow(Vec<float, Isa> x, Vec<float, Isa> y, std::integer_sequence<int, Lane...>) {
  using F = Vec<float, Isa>;
  using D = Vec<double, Isa>;
  typedef float Half __attribute__((vector_size(sizeof(typename F::Raw) / 2)));
  constexpr int kHalf = sizeof...(Lane);
  const auto widen_half = [](F v, auto high) {
    if constexpr (high.value) {
      return D(__builtin_convertvector(__builtin_shufflevector(v.raw, v.raw, (Lane + kHalf)...),
                                       typename D::Raw));
    } else {
      return D(
          __builtin_convertvector(__builtin_shufflevector(v.raw, v.raw, Lane...), typename D::Raw));
    }
  };
  const auto power = [&](auto high) {
    return __builtin_convertvector(exp(widen_half(y, high) * log(widen_half(abs(x), high))).raw,
                                   Half);
  };
  const Half low = power(std::false_type{}), high = power(std::true_type{});
  return finish_pow(x, y, F(__builtin_shufflevector(low, high, Lane..., (Lane + kHalf)...)));
}

template <class Isa>
Vec<float, Isa> pow(Vec<float, Isa> x, Vec<float, Isa> y) {
  return pow(x, y, std::make_integer_sequence<int, Vec<float, Isa>::kLanes / 2>());
}

}  // namespace mirage::cpu
