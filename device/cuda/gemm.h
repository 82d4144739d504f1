// Matrix products of tiles in any memory with any strides, by the threads of a block in T.
#pragma once

#include "mirage/cuda/block.h"
#include "mirage/cuda/storage.h"

namespace mirage::cuda {

enum class Start { Zero, FromC };

/// C[m, n] = A[m, k] B[k, n], or C + A B. A thread sums 4 x 1 elements of C.
template <class T, class SA, class SB, class SC>
__device__ void gemm(int64_t m, int64_t n, int64_t k, Tile<SA> a, Tile<SB> b, Tile<SC> c,
                     Start start) {
  constexpr int kRows = 4;
  for_each((m + kRows - 1) / kRows, n, [&](int64_t block, int64_t col) {
    const int64_t row = block * kRows;
    const int count = static_cast<int>(m - row < kRows ? m - row : kRows);
    T sums[kRows] = {};
    for (int64_t step = 0; step < k; ++step) {
      const T factor = widen<T>(*b.at(step, col));
#pragma unroll
      for (int i = 0; i < kRows; ++i)
        if (i < count) sums[i] += widen<T>(*a.at(row + i, step)) * factor;
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
      if (i < count) {
        SC* const to = c.at(row + i, col);
        *to = convert<SC>(start == Start::FromC ? widen<T>(*to) + sums[i] : sums[i]);
      }
  });
  sync();
}

}  // namespace mirage::cuda
