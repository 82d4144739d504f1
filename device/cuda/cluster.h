// What the blocks of a cluster hold of sums, put together. Needs compute capability 9.0.
#pragma once

#include "mirage/cuda/block.h"

namespace mirage::cuda {

/// data[i] of the first block = the combination over all blocks in the order of their ranks; every
/// block does a part. Between two calls of cluster_sync().
template <class Op, int kBlocks>
__device__ void merge_blocks(float* data, int count) {
  for (int i = cluster_rank() * threads() + thread(); i < count; i += kBlocks * threads()) {
    float parts[kBlocks];
#pragma unroll
    for (int rank = 0; rank < kBlocks; ++rank)
      parts[rank] = load_remote(remote_address(data + i, rank));
#pragma unroll
    for (int rank = 1; rank < kBlocks; ++rank) parts[0] = Op::combine(parts[0], parts[rank]);
    store_remote(remote_address(data + i, 0), parts[0]);
  }
}

}  // namespace mirage::cuda
