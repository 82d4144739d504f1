// Products by tensor cores.
#pragma once

#include "mirage/cuda/types.h"

namespace mirage::cuda {

/// c[m16, n8] += a[m16, k16] b[k16, n8] by a warp, f32 sums of 16-bit pairs: lane 4 g + q holds of
/// c rows g and g + 8, columns 2 q and 2 q + 1; of a rows g, g + 8, g, g + 8, columns 2 q and on,
/// the last two 8 further; of b column g, rows 2 q and on, and 8 further.
inline __device__ void mma_f16(float* c, const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, "
      "%9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
inline __device__ void mma_bf16(float* c, const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace mirage::cuda
