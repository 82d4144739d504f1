// The scalar functions that generated code calls, for float and double. Errors are those of CUDA's
// own functions (at most 2 ulp for float) and one rounding for each operation around them.
#pragma once

#include "mirage/cuda/kit.h"

namespace mirage::cuda {

inline __device__ float exp(float x) { return ::expf(x); }
inline __device__ double exp(double x) { return ::exp(x); }
/// Functions for values that become 16-bit numbers: exp within |x| 2^-24 + 2 ulp.
namespace fast {
inline __device__ float exp(float x) { return exp2_approximate(x * 1.4426950408889634f); }
}  // namespace fast
inline __device__ float log(float x) { return ::logf(x); }
inline __device__ double log(double x) { return ::log(x); }
inline __device__ float sqrt(float x) { return ::sqrtf(x); }
inline __device__ double sqrt(double x) { return ::sqrt(x); }
inline __device__ float rsqrt(float x) { return ::rsqrtf(x); }
inline __device__ double rsqrt(double x) { return ::rsqrt(x); }
inline __device__ float erf(float x) { return ::erff(x); }
inline __device__ double erf(double x) { return ::erf(x); }
inline __device__ float erfc(float x) { return ::erfcf(x); }
inline __device__ double erfc(double x) { return ::erfc(x); }
inline __device__ float tanh(float x) { return ::tanhf(x); }
inline __device__ double tanh(double x) { return ::tanh(x); }
inline __device__ float pow(float x, float y) { return ::powf(x, y); }
inline __device__ double pow(double x, double y) { return ::pow(x, y); }

/// A NaN on either side is the result.
template <class T>
__device__ T maximum(T a, T b) {
  return a != a ? a : b != b ? b : a > b ? a : b;
}
template <class T>
__device__ T minimum(T a, T b) {
  return a != a ? a : b != b ? b : a < b ? a : b;
}

inline __device__ float maximum(float a, float b) { return larger_or_nan(a, b); }
inline __device__ float minimum(float a, float b) { return smaller_or_nan(a, b); }

template <class T>
__device__ T relu(T x) {
  return maximum(x, T(0));
}
/// Both tails keep their relative accuracy.
template <class T>
__device__ T sigmoid(T x) {
  const T e = exp(x < 0 ? x : -x);
  return (x < 0 ? e : T(1)) / (T(1) + e);
}
template <class T>
__device__ T silu(T x) {
  return x * sigmoid(x);
}
/// By the complement of erf, which keeps the left tail accurate.
template <class T>
__device__ T gelu(T x) {
  return T(0.5) * x * erfc(x * T(-0.70710678118654752));
}

}  // namespace mirage::cuda
