// Elementary functions over Vec<float, Isa> and Vec<double, Isa>.
//
// Largest errors against a wider reference, in units in the last place of the result, over a sweep
// of all exponents including subnormal arguments and results (tests/device/cpu/math_test.cc asserts
// them):
//
//            float  double                 float  double
//   exp       1.1    1.0         sigmoid    2.3    2.3
//   log       0.9    0.8         silu       3.1    3.1
//   tanh      1.4    1.3         gelu       4.9    4.9
//   erf       1.3    1.3         pow        0.5    1.5
//   rsqrt     1.5    1.5         sqrt, a / b, reciprocal: 0.5
//
// A NaN gives a NaN; infinities, zeros, overflow and underflow go to the limit of the function, but
// silu(-inf) and gelu(-inf) are NaN like the products -inf * 0 that define them, here, in the
// interpreter and in PyTorch. None of it survives -ffast-math. All polynomials
// interpolate at Chebyshev nodes of the stated interval.
#pragma once

#include "mirage/cpu/vec.h"

namespace mirage::cpu {

/// c[0] + x c[1] + x^2 c[2] + ... by Horner's rule.
template <class V, size_t N>
V polynomial(V x, const typename V::Element (&c)[N]) {
  V sum(c[N - 1]);
  for (size_t i = N - 1; i-- > 0;) sum = fma(sum, x, V(c[i]));
  return sum;
}

template <class T>
struct FloatTraits;
template <>
struct FloatTraits<float> {
  using Bits = int32_t;
  static constexpr int kMantissa = 23;
  static constexpr int kBias = 127;
  static constexpr int kSplit = 12;              // low bits cleared when a product must be exact
  static constexpr float kMagic = 0x1.8p23f;     // adding it rounds to an integer
  static constexpr float kLn2Hi = 0x1.62e4p-1f;  // 15 bits: times an exponent it is exact
  static constexpr float kLn2Lo = 1.4286068203e-6f;
  static constexpr float kExpLow = -104, kExpHigh = 89;  // beyond: 0 and inf
  static constexpr float kExpDeep = -120;  // beyond: 0 even after a factor of the argument
};
template <>
struct FloatTraits<double> {
  using Bits = int64_t;
  static constexpr int kMantissa = 52;
  static constexpr int kBias = 1023;
  static constexpr int kSplit = 27;
  static constexpr double kMagic = 0x1.8p52;
  static constexpr double kLn2Hi = 0x1.62e42fefa3800p-1;  // 42 bits
  static constexpr double kLn2Lo = 5.4979230187083711747e-14;
  static constexpr double kExpLow = -746, kExpHigh = 710;
  static constexpr double kExpDeep = -760;
};

/// Rounding error of the product p = a * b, so that a * b = p + error exactly.
template <class T, class Isa>
Vec<T, Isa> product_error(Vec<T, Isa> a, Vec<T, Isa> b, Vec<T, Isa> p) {
  if constexpr (Isa::kHasFma) {
    return fma(a, b, -p);
  } else {  // Dekker (1971): halves whose products are exact
    using V = Vec<T, Isa>;
    const auto clear = ~((typename FloatTraits<T>::Bits{1} << FloatTraits<T>::kSplit) - 1);
    const V a_high = V::from_bits(a.bits() & clear), b_high = V::from_bits(b.bits() & clear);
    const V a_low = a - a_high, b_low = b - b_high;
    return ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low;
  }
}

/// exp(x) = fraction * 2^exponent with fraction near [0.7, 1.42]. For |x| up to some thousands.
template <class V>
struct ExpParts {
  V fraction;
  V exponent;                     // integral
  typename V::Int exponent_bits;  // the same as integers
};

template <class T, class Isa>
ExpParts<Vec<T, Isa>> exp_parts(Vec<T, Isa> x) {
  using V = Vec<T, Isa>;
  using F = FloatTraits<T>;
  const V shifted = fma(x, V(T(1.4426950408889634074)), V(F::kMagic));
  const V n = shifted - V(F::kMagic);
  const V r = fma(n, V(-F::kLn2Lo), fma(n, V(-F::kLn2Hi), x));
  // exp(r) = 1 + r + r^2 q(r) for |r| <= ln 2 / 2
  V q;
  if constexpr (sizeof(T) == 4) {
    constexpr float c[] = {0.5f, 0.1666657703f, 0.04166655466f, 0.008363173075f, 0.001392617612f};
    q = polynomial(r, c);
  } else {
    constexpr double c[] = {0.5,
                            0.16666666666666671,
                            0.0416666666666666698,
                            0.00833333333332614088,
                            0.00138888888888837524,
                            0.00019841269874800492,
                            0.0000248015873255333638,
                            2.75572554257464343e-6,
                            2.75572736613486362e-7,
                            2.51052063739570111e-8,
                            2.09146793765839351e-9};
    q = polynomial(r, c);
  }
  return {fma(r * r, q, r) + V(T{1}), n, shifted.bits() - V(F::kMagic).bits()};
}

/// value * 2^exponent, rounded once, for exponents that leave the range of one power of two.
template <class T, class Isa>
Vec<T, Isa> scale(Vec<T, Isa> value, const ExpParts<Vec<T, Isa>>& parts) {
  using V = Vec<T, Isa>;
  using F = FloatTraits<T>;
  if constexpr (requires { V::K::scale(value.raw, parts.exponent.raw); }) {
    return V(V::K::scale(value.raw, parts.exponent.raw));
  } else {
    const typename V::Int half = parts.exponent_bits >> 1;
    const V first = V::from_bits((half + F::kBias) << F::kMantissa);
    const V second = V::from_bits((parts.exponent_bits - half + F::kBias) << F::kMantissa);
    return value * first * second;
  }
}

template <class T, class Isa>
Vec<T, Isa> exp(Vec<T, Isa> x) {
  using V = Vec<T, Isa>;
  x = min(V(FloatTraits<T>::kExpHigh), max(V(FloatTraits<T>::kExpLow), x));
  const auto parts = exp_parts(x);
  return scale(parts.fraction, parts);
}

/// x = 2^exponent * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x.
template <class V>
struct LogParts {
  V exponent, f;
};

template <class T, class Isa>
LogParts<Vec<T, Isa>> log_parts(Vec<T, Isa> x) {
  using V = Vec<T, Isa>;
  using F = FloatTraits<T>;
  constexpr T kLift = sizeof(T) == 4 ? T(0x1p24) : T(0x1p54);
  const auto is_subnormal = x < V(std::numeric_limits<T>::min());
  x = select(is_subnormal, x * V(kLift), x);
  const typename V::Int bits = x.bits();
  const typename V::Int exponent = (bits - V(T(0.70710678118654752440)).bits()) >> F::kMantissa;
  const V f = V::from_bits(bits - (exponent << F::kMantissa)) - V(T{1});
  const V e = V::from_bits(exponent + V(F::kMagic).bits()) - V(F::kMagic);
  return {e - select(is_subnormal, V(T(F::kMantissa == 23 ? 24 : 54)), V(T{0})), f};
}

template <class T, class Isa>
Vec<T, Isa> log(Vec<T, Isa> x) {
  using V = Vec<T, Isa>;
  using F = FloatTraits<T>;
  constexpr T kInf = std::numeric_limits<T>::infinity();
  const auto [e, f] = log_parts(x);
  const V half_square = f * f * V(T(0.5));
  V correction;  // log(1 + f) = f - half_square + correction
  if constexpr (sizeof(T) == 4) {
    constexpr float c[] = {0.3333333118f,  -0.2499999696f, 0.2000071575f,
                           -0.1666780232f, 0.1424905765f,  -0.1242568733f,
                           0.1168541992f,  -0.1147973385f, 0.06971611471f};
    correction = f * (f * f) * polynomial(f, c);
  } else {  // log(1 + f) = 2 atanh(s)
    constexpr double c[] = {0.666666666666666665, 0.40000000000000877,  0.285714285708036118,
                            0.222222223917139174, 0.181817956401329063, 0.153862397028146582,
                            0.132687731386568852, 0.130866261478401021};
    const V s = f / (f + V(T{2}));
    const V z = s * s;
    correction = s * fma(z, polynomial(z, c), half_square);
  }
  const V low = fma(e, V(F::kLn2Lo), correction) - half_square;
  const V result = fma(e, V(F::kLn2Hi), f + low);
  const V at_edge = select(x == V(T{0}), V(-kInf),
                           select(x < V(T{0}), V(std::numeric_limits<T>::quiet_NaN()), x));
  return select((x > V(T{0})) & (x < V(kInf)), result, at_edge);
}

template <class T, class Isa>
Vec<T, Isa> tanh(Vec<T, Isa> x) {
  using V = Vec<T, Isa>;
  const V a = abs(x);
  const V z = x * x;
  V p;  // tanh(x) = x + x^3 p(x^2) for |x| <= 0.625
  if constexpr (sizeof(T) == 4) {
    constexpr float c[] = {-0.3333333317f, 0.1333330356f,    -0.05395925958f,
                           0.02176891865f, -0.008343945516f, 0.002292744816f};
    p = polynomial(z, c);
  } else {
    constexpr double c[] = {
        -0.333333333333333329,    0.133333333333330416,    -0.0539682539678969917,
        0.0218694885190083058,    -0.00886323510324087792, 0.00359212175115496227,
        -0.00145577541204780551,  0.000589660657775704335, -0.000237590649605556196,
        0.0000925711612955676827, -0.0000312011014257974,  6.48516348279311315e-6};
    p = polynomial(z, c);
  }
  const V small = fma(a * z, p, a);
  const V large = V(T{1}) - V(T{2}) / (exp(a + a) + V(T{1}));
  return copysign(select(a < V(T(0.625)), small, large), x);
}

template <class T, class Isa>
Vec<T, Isa> sigmoid(Vec<T, Isa> x) {
  using V = Vec<T, Isa>;
  const V e = exp(-abs(x));  // never overflows, so small results keep their accuracy
  return select(x < V(T{0}), e, V(T{1})) / (e + V(T{1}));
}

/// x * sigmoid(x).
template <class T, class Isa>
Vec<T, Isa> silu(Vec<T, Isa> x) {
  using V = Vec<T, Isa>;
  const V deep(FloatTraits<T>::kExpDeep);
  const auto parts = exp_parts(max(deep, -abs(x)));
  const V e = scale(parts.fraction, parts);
  // For negative x multiply before scaling: e alone may be subnormal where the product is not.
  // Adding x * 0 changes nothing but -inf, which becomes NaN.
  const V product = fma(max(deep, x), parts.fraction, x * V(T{0}));
  const V numerator = select(x < V(T{0}), scale(product, parts), x);
  return numerator / (e + V(T{1}));
}

/// erf(x) / x - 1 as a polynomial in x^2, for |x| <= 1.
template <class T, class Isa>
Vec<T, Isa> erf_excess(Vec<T, Isa> square) {
  if constexpr (sizeof(T) == 4) {
    constexpr float c[] = {0.128379166f,    -0.3761262667f,    0.1128359472f,  -0.02685421201f,
                           0.005189087423f, -0.0008016864287f, 7.875875063e-5f};
    return polynomial(square, c);
  } else {
    constexpr double c[] = {
        0.12837916709551257,     -0.376126389031837481,     0.112837916709548787,
        -0.0268661706450767932,  0.00522397762481801447,    -0.000854832698083378991,
        0.000120553311116427109, -0.0000149255952668311816, 1.6461000484121368e-6,
        -1.6350312701054695e-7,  1.46597752740474358e-8,    -1.13728488567916737e-9,
        5.9571761477489114e-11};
    return polynomial(square, c);
  }
}

/// The tail of the normal distribution without its exponential, Phi(-a) exp(a^2 / 2), for 0.7 <= a
/// <= 15 (float) or 39.5 (double), times `factor`: a polynomial in t = (a - k) / (a + k), over a +
/// k.
template <class T, class Isa>
Vec<T, Isa> normal_tail(Vec<T, Isa> a, Vec<T, Isa> factor) {
  using V = Vec<T, Isa>;
  const V k(T(sizeof(T) == 4 ? 3 : 5));
  const V sum = a + k;
  const V t = (a - k) / sum;
  if constexpr (sizeof(T) == 4) {
    constexpr float c[] = {0.7290836914f,     -0.5093319752f,  0.2300175648f,   -0.04726325105f,
                           -0.01045976632f,   0.006974496932f, 0.001005489679f, -0.001050162968f,
                           -0.0001899532434f, 0.0001512178183f};
    return polynomial(t, c) * factor / sum;
  } else {
    constexpr double c[] = {
        0.76919304975006296,      -0.66538250289005692,      0.495305615969975871,
        -0.313533156671278412,    0.165020366170412337,      -0.0691186387072294667,
        0.0207950667993236851,    -0.00299337675559123409,   -0.00079786939260692444,
        0.000544898930894744569,  -0.0000593757634204097196, -0.0000497620876530909837,
        0.0000166813417745531839, 3.97841634204300043e-6,    -2.76953603500009054e-6,
        -3.3121796120643789e-7,   4.33417318696589954e-7,    3.50569104989972383e-8,
        -6.5945927833624813e-8,   -3.88935815768573897e-9,   7.41194343171750536e-9};
    return polynomial(t, c) * factor / sum;
  }
}

template <class T, class Isa>
Vec<T, Isa> erf(Vec<T, Isa> x) {
  using V = Vec<T, Isa>;
  const V a = min(V(T(sizeof(T) == 4 ? 5 : 7)), abs(x));  // beyond, erf rounds to 1
  const V small = fma(x, erf_excess(x * x), x);
  const V tail = normal_tail(max(V(T(0.7)), a * V(T(1.4142135623730950488))), exp(-(a * a)));
  return select(a < V(T{1}), small, copysign(V(T{1}) - (tail + tail), x));
}

/// x (1 + erf(x / sqrt 2)) / 2, the exact form, accurate in the negative tail too.
template <class T, class Isa>
Vec<T, Isa> gelu(Vec<T, Isa> x) {
  using V = Vec<T, Isa>;
  constexpr T kRootHalf = T(0.70710678118654752440);
  const V half_x = x * V(T(0.5));
  const V z = x * V(kRootHalf);
  const V near_zero = fma(half_x, fma(z, erf_excess(half_x * x), z), half_x);

  // Beyond the clamp the negative tail is 0.
  const V a = min(V(T(sizeof(T) == 4 ? 14.5 : 39)), abs(x));
  const V square = a * a;
  const V square_low = product_error(a, a, square);
  const auto parts = exp_parts(square * V(T(-0.5)));
  const V fraction = fma(parts.fraction, square_low * V(T(-0.5)), parts.fraction);
  const V tail = scale(normal_tail(max(V(T(0.7)), a), -a * fraction), parts);  // -a Phi(-a)
  const V far = select(x > V(T{0}), x + tail, fma(x, V(T{0}), tail));          // NaN at -inf
  return copysign(select(abs(x) < V(kRootHalf), near_zero, far), x);           // -0 stays -0
}

template <class T, class Isa>
Vec<T, Isa> rsqrt(Vec<T, Isa> x) {
  return Vec<T, Isa>(T{1}) / sqrt(x);
}
template <class T, class Isa>
Vec<T, Isa> reciprocal(Vec<T, Isa> x) {
  return Vec<T, Isa>(T{1}) / x;
}

}  // namespace mirage::cpu
