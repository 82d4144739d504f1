// The one place that maps what the compiler may emit to an instruction-set kit.
//
// Generated code says `using Isa = mirage::cpu::Native;` and nothing else about the machine. It is
// compiled with
//   -std=c++20 -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -march=<x86-64-v4 |
//   x86-64-v3 | baseline>
// -ffp-contract=off is needed: the error bounds of math.h rely on products that round where the
// source says so, and fma is written out where it is wanted. Never -ffast-math. Code for different
// instruction sets must not be linked into one image: functions that do not mention an Isa
// (storage.h) would be merged across them.
#pragma once

#include "mirage/cpu/portable.h"

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define MIRAGE_CPU_HAS_AVX2 1
#include "mirage/cpu/avx2.h"
#endif
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define MIRAGE_CPU_HAS_AVX512 1
#include "mirage/cpu/avx512.h"
#endif

namespace mirage::cpu {

#if defined(MIRAGE_CPU_HAS_AVX512)
using Native = Avx512;
#elif defined(MIRAGE_CPU_HAS_AVX2)
using Native = Avx2;
#else
using Native = Portable;
#endif

}  // namespace mirage::cpu
