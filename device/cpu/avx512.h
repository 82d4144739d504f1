// Instruction-set kit for AVX-512 F, BW, DQ, VL (x86-64-v4). See portable.h for what a kit is.
#pragma once

#include <immintrin.h>

#include "mirage/cpu/portable.h"

namespace mirage::cpu {

struct Avx512 {
  static constexpr const char* kName = "avx512";
  static constexpr bool kHasFma = true;
  static constexpr int kRegisters = 32;
  // 28 accumulators, 2 vectors of B and a broadcast of A fill the 32 registers.
  static constexpr int kTileRows = 14;
  static constexpr int kTileVectors = 2;
};

template <>
struct Kit<float, Avx512> : LaneAccess<Kit<float, Avx512>> {
  using Element = float;
  typedef float Raw __attribute__((vector_size(64)));
  typedef int32_t Int __attribute__((vector_size(64)));
  static constexpr int kLanes = 16;

  static Raw fma(Raw a, Raw b, Raw c) { return _mm512_fmadd_ps(a, b, c); }
  static Raw min(Raw a, Raw b) { return _mm512_min_ps(a, b); }
  static Raw max(Raw a, Raw b) { return _mm512_max_ps(a, b); }
  static Raw sqrt(Raw a) { return _mm512_sqrt_ps(a); }
  /// An approximate reciprocal, one Newton step and one correction of the quotient by its exact
  /// remainder: a third of the time of the divide instruction. Operands that could overflow or
  /// underflow on the way take the instruction.
  static Raw divide(Raw a, Raw b) {
    if (!(is_moderate(a) & is_moderate(b))) return a / b;
    const Raw approximate = _mm512_rcp14_ps(b);
    const Raw inverse = fma(approximate, fma(-b, approximate, Raw{} + 1.0f), approximate);
    const Raw quotient = a * inverse;
    return fma(fma(-b, quotient, a), inverse, quotient);
  }
  static Raw scale(Raw a, Raw exponent) { return _mm512_scalef_ps(a, exponent); }  // a 2^exponent

  static Raw load(const float* from) { return _mm512_loadu_ps(from); }
  static Raw load(const Bf16* from) {
    return widen_bf16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static Raw load(const F16* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static Raw load(const double* from) { return load_lanes(from, kLanes); }

  static Raw load_part(const float* from, int count) {
    return _mm512_maskz_loadu_ps(first(count), from);
  }
  static Raw load_part(const Bf16* from, int count) {
    return widen_bf16(_mm256_maskz_loadu_epi16(first(count), from));
  }
  static Raw load_part(const F16* from, int count) {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first(count), from));
  }
  static Raw load_part(const double* from, int count) { return load_lanes(from, count); }

  static void store(float* to, Raw raw) { _mm512_storeu_ps(to, raw); }
  static void store(Bf16* to, Raw raw) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), narrow_bf16(raw));
  }
  static void store(F16* to, Raw raw) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), narrow_f16(raw));
  }
  static void store(double* to, Raw raw) { store_lanes(to, raw, kLanes); }

  static void store_part(float* to, Raw raw, int count) {
    _mm512_mask_storeu_ps(to, first(count), raw);
  }
  static void store_part(Bf16* to, Raw raw, int count) {
    _mm256_mask_storeu_epi16(to, first(count), narrow_bf16(raw));
  }
  static void store_part(F16* to, Raw raw, int count) {
    _mm256_mask_storeu_epi16(to, first(count), narrow_f16(raw));
  }
  static void store_part(double* to, Raw raw, int count) { store_lanes(to, raw, count); }

 private:
  static __mmask16 first(int count) { return static_cast<__mmask16>((1u << count) - 1u); }
  /// All lanes of magnitude 2^-60 to 2^60.
  static bool is_moderate(Raw a) {
    constexpr int32_t kLow = (127 - 60) << 23, kHigh = (127 + 60) << 23;
    const __m512i bits = _mm512_and_si512(_mm512_castps_si512(a), _mm512_set1_epi32(0x7fffffff));
    return _mm512_cmple_epu32_mask(_mm512_sub_epi32(bits, _mm512_set1_epi32(kLow)),
                                   _mm512_set1_epi32(kHigh - kLow)) == 0xffff;
  }
  static Raw widen_bf16(__m256i half) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
  }
  // The bf16 conversion instruction flushes subnormals; integer arithmetic keeps them.
  static __m256i narrow_bf16(Raw raw) {
    const __m512i bits = _mm512_castps_si512(raw);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x400000));
    const __mmask16 is_nan = _mm512_cmp_ps_mask(raw, raw, _CMP_UNORD_Q);
    return _mm512_cvtepi32_epi16(
        _mm512_srli_epi32(_mm512_mask_blend_epi32(is_nan, rounded, quiet), 16));
  }
  static __m256i narrow_f16(Raw raw) { return _mm512_cvtps_ph(raw, _MM_FROUND_TO_NEAREST_INT); }
};

template <>
struct Kit<double, Avx512> : LaneAccess<Kit<double, Avx512>> {
  using Element = double;
  typedef double Raw __attribute__((vector_size(64)));
  typedef int64_t Int __attribute__((vector_size(64)));
  static constexpr int kLanes = 8;

  static Raw fma(Raw a, Raw b, Raw c) { return _mm512_fmadd_pd(a, b, c); }
  static Raw min(Raw a, Raw b) { return _mm512_min_pd(a, b); }
  static Raw max(Raw a, Raw b) { return _mm512_max_pd(a, b); }
  static Raw sqrt(Raw a) { return _mm512_sqrt_pd(a); }
  static Raw divide(Raw a, Raw b) { return a / b; }
  static Raw scale(Raw a, Raw exponent) { return _mm512_scalef_pd(a, exponent); }  // a 2^exponent

  static Raw load(const double* from) { return _mm512_loadu_pd(from); }
  static Raw load(const float* from) { return _mm512_cvtps_pd(_mm256_loadu_ps(from)); }
  template <class S>
  static Raw load(const S* from) {
    return load_lanes(from, kLanes);
  }
  static Raw load_part(const double* from, int count) {
    return _mm512_maskz_loadu_pd(first(count), from);
  }
  static Raw load_part(const float* from, int count) {
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(first(count), from));
  }
  template <class S>
  static Raw load_part(const S* from, int count) {
    return load_lanes(from, count);
  }

  static void store(double* to, Raw raw) { _mm512_storeu_pd(to, raw); }
  static void store(float* to, Raw raw) { _mm256_storeu_ps(to, _mm512_cvtpd_ps(raw)); }
  template <class S>
  static void store(S* to, Raw raw) {
    store_lanes(to, raw, kLanes);
  }
  static void store_part(double* to, Raw raw, int count) {
    _mm512_mask_storeu_pd(to, first(count), raw);
  }
  static void store_part(float* to, Raw raw, int count) {
    _mm256_mask_storeu_ps(to, first(count), _mm512_cvtpd_ps(raw));
  }
  template <class S>
  static void store_part(S* to, Raw raw, int count) {
    store_lanes(to, raw, count);
  }

 private:
  static __mmask8 first(int count) { return static_cast<__mmask8>((1u << count) - 1u); }
};

}  // namespace mirage::cpu
