// Instruction-set kit for AVX2 with FMA and F16C (x86-64-v3). See portable.h for what a kit is.
#pragma once

#include <immintrin.h>

#include "mirage/cpu/portable.h"

namespace mirage::cpu {

struct Avx2 {
  static constexpr const char* kName = "avx2";
  static constexpr bool kHasFma = true;
  static constexpr int kRegisters = 16;
  static constexpr int kTileRows = 6;
  static constexpr int kTileVectors = 2;
};

/// Lanes [0, count) set, as maskload and maskstore want them.
inline __m256i avx2_lanes32(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline __m256i avx2_lanes64(int count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}

template <>
struct Kit<float, Avx2> : LaneAccess<Kit<float, Avx2>> {
  using Element = float;
  typedef float Raw __attribute__((vector_size(32)));
  typedef int32_t Int __attribute__((vector_size(32)));
  static constexpr int kLanes = 8;

  static Raw fma(Raw a, Raw b, Raw c) { return _mm256_fmadd_ps(a, b, c); }
  static Raw min(Raw a, Raw b) { return _mm256_min_ps(a, b); }
  static Raw max(Raw a, Raw b) { return _mm256_max_ps(a, b); }
  static Raw sqrt(Raw a) { return _mm256_sqrt_ps(a); }
  static Raw divide(Raw a, Raw b) { return a / b; }

  static Raw load(const float* from) { return _mm256_loadu_ps(from); }
  static Raw load(const Bf16* from) { return widen_bf16(load_half(from)); }
  static Raw load(const F16* from) { return _mm256_cvtph_ps(load_half(from)); }
  static Raw load(const double* from) { return load_lanes(from, kLanes); }
  static Raw load_part(const float* from, int count) {
    return _mm256_maskload_ps(from, avx2_lanes32(count));
  }
  template <class S>
  static Raw load_part(const S* from, int count) {
    return load_lanes(from, count);
  }

  static void store(float* to, Raw raw) { _mm256_storeu_ps(to, raw); }
  static void store(Bf16* to, Raw raw) { store_half(to, narrow_bf16(raw)); }
  static void store(F16* to, Raw raw) {
    store_half(to, _mm256_cvtps_ph(raw, _MM_FROUND_TO_NEAREST_INT));
  }
  static void store(double* to, Raw raw) { store_lanes(to, raw, kLanes); }
  static void store_part(float* to, Raw raw, int count) {
    _mm256_maskstore_ps(to, avx2_lanes32(count), raw);
  }
  template <class S>
  static void store_part(S* to, Raw raw, int count) {
    store_lanes(to, raw, count);
  }

 private:
  static __m128i load_half(const void* from) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  }
  static void store_half(void* to, __m128i half) {
    _mm_storeu_si128(static_cast<__m128i*>(to), half);
  }
  static Raw widen_bf16(__m128i half) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
  }
  static __m128i narrow_bf16(Raw raw) {
    const __m256i bits = _mm256_castps_si256(raw);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded =
        _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(raw, raw, _CMP_UNORD_Q));
    const __m256i high = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, is_nan), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
  }
};

template <>
struct Kit<double, Avx2> : LaneAccess<Kit<double, Avx2>> {
  using Element = double;
  typedef double Raw __attribute__((vector_size(32)));
  typedef int64_t Int __attribute__((vector_size(32)));
  static constexpr int kLanes = 4;

  static Raw fma(Raw a, Raw b, Raw c) { return _mm256_fmadd_pd(a, b, c); }
  static Raw min(Raw a, Raw b) { return _mm256_min_pd(a, b); }
  static Raw max(Raw a, Raw b) { return _mm256_max_pd(a, b); }
  static Raw sqrt(Raw a) { return _mm256_sqrt_pd(a); }
  static Raw divide(Raw a, Raw b) { return a / b; }

  static Raw load(const double* from) { return _mm256_loadu_pd(from); }
  static Raw load(const float* from) { return _mm256_cvtps_pd(_mm_loadu_ps(from)); }
  template <class S>
  static Raw load(const S* from) {
    return load_lanes(from, kLanes);
  }
  static Raw load_part(const double* from, int count) {
    return _mm256_maskload_pd(from, avx2_lanes64(count));
  }
  template <class S>
  static Raw load_part(const S* from, int count) {
    return load_lanes(from, count);
  }

  static void store(double* to, Raw raw) { _mm256_storeu_pd(to, raw); }
  static void store(float* to, Raw raw) { _mm_storeu_ps(to, _mm256_cvtpd_ps(raw)); }
  template <class S>
  static void store(S* to, Raw raw) {
    store_lanes(to, raw, kLanes);
  }
  static void store_part(double* to, Raw raw, int count) {
    _mm256_maskstore_pd(to, avx2_lanes64(count), raw);
  }
  template <class S>
  static void store_part(S* to, Raw raw, int count) {
    store_lanes(to, raw, count);
  }
};

}  // namespace mirage::cpu
