// Rows in the registers of teams of threads: a row is dealt out in chunks of neighbouring columns,
// member m of its team holds chunks m, m + members and so on. A team is a part of a warp (a power
// of two), or some warps that are a whole block; reductions leave their result in every thread.
#pragma once

#include "mirage/cuda/cluster.h"
#include "mirage/cuda/fragment.h"

namespace mirage::cuda {

// ---- values ----

/// Computed values: kChunks chunks of kWidth columns.
template <int kChunks, int kWidth>
struct RowTile {
  float v[kChunks][kWidth];
};
/// Values as they are in memory, 16-bit ones in pairs.
template <class S, int kChunks, int kWidth>
struct RowElements {
  static constexpr int kWords =
      kWidth * static_cast<int>(sizeof(S)) < 4 ? 1 : kWidth * static_cast<int>(sizeof(S)) / 4;
  uint32_t words[kChunks][kWords];
};

template <int kChunks, int kWidth>
__device__ float element(const RowTile<kChunks, kWidth>& a, int chunk, int e) {
  return a.v[chunk][e];
}
template <class S, int kChunks, int kWidth>
__device__ float element(const RowElements<S, kChunks, kWidth>& a, int chunk, int e) {
  if constexpr (sizeof(S) == 4) {
    return __uint_as_float(a.words[chunk][e]);
  } else {
    return e % 2 == 0 ? low_of<S>(a.words[chunk][e / 2]) : high_of<S>(a.words[chunk][e / 2]);
  }
}
inline __device__ float element(float a, int, int) { return a; }

/// A step on what has no columns.
template <class F, class... Inputs>
__device__ float apply(const F& f, const Inputs&... inputs) {
  return f(inputs...);
}
/// a / b within 2 ulp, where many are divided by the same b: its reciprocal is taken once. The
/// scale keeps the reciprocal a normal number.
inline __device__ float shared_quotient(float a, float b) {
  const float size = fabsf(b);
  const float scale = size > 0x1p100f ? 0x1p-64f : size < 0x1p-100f ? 0x1p64f : 1.0f;
  return a * scale * (1.0f / (b * scale));
}
/// What exponentials are shifted by: nothing where the maximum is infinite.
inline __device__ float as_gauge(float maximum) { return is_infinite(maximum) ? 0.0f : maximum; }

// ---- memory ----

template <int kBytes>
__device__ void store_words(void* to, const uint32_t* words) {
  if constexpr (kBytes == 16) {
    *static_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
  } else if constexpr (kBytes == 8) {
    *static_cast<uint2*>(to) = make_uint2(words[0], words[1]);
  } else if constexpr (kBytes == 4) {
    *static_cast<uint32_t*>(to) = words[0];
  } else {
    *static_cast<uint16_t*>(to) = static_cast<uint16_t>(words[0]);
  }
}

// ---- rows ----

/// Which columns of its chunks a thread must ask for: none, as all exist; whether a chunk exists;
/// whether an element does.
enum class Tail { None, Chunks, Elements };

/// This thread's part of a row that kMembers threads hold.
template <int kMembers, int kChunks, int kWidth, Tail kTail>
struct RowPart {
  int member;
  int columns;  // 0 where there is no row

  __device__ int column(int chunk) const { return (chunk * kMembers + member) * kWidth; }
  __device__ bool has(int chunk, int e) const {
    if constexpr (kTail == Tail::None) return true;
    if constexpr (kTail == Tail::Chunks) return column(chunk) < columns;
    return column(chunk) + e < columns;
  }

  /// kAccess elements at a time, of a row that starts at `from`.
  template <int kAccess, class S>
  __device__ RowElements<S, kChunks, kWidth> load(const S* from) const {
    RowElements<S, kChunks, kWidth> result;
    constexpr int kBytes = kAccess * static_cast<int>(sizeof(S));
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk)
#pragma unroll
      for (int e = 0; e < kWidth; e += kAccess) {
        const S* const at = from + column(chunk) + e;
        if constexpr (kBytes == 2) {
          uint32_t half;
          load_words<2>(&half, at, has(chunk, e));
          uint32_t& pair = result.words[chunk][e / 2];
          pair = e % 2 == 0 ? half : pair | half << 16;
        } else {
          load_words<kBytes>(&result.words[chunk][e * static_cast<int>(sizeof(S)) / 4], at,
                             has(chunk, e));
        }
      }
    return result;
  }
  /// The row's number.
  template <class S>
  __device__ float number(const S* from) const {
    return kTail == Tail::None || columns > 0 ? widen<float>(*from) : 0.0f;
  }

  template <class F, class... Inputs>
  __device__ RowTile<kChunks, kWidth> map(const F& f, const Inputs&... inputs) const {
    RowTile<kChunks, kWidth> result;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk)
#pragma unroll
      for (int e = 0; e < kWidth; ++e) result.v[chunk][e] = f(element(inputs, chunk, e)...);
    return result;
  }

  /// The combination of f over this thread's columns.
  template <class Op, class F, class... Inputs>
  __device__ float reduce(const F& f, const Inputs&... inputs) const {
    float part[kWidth];
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk)
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        const float value =
            has(chunk, e) ? f(element(inputs, chunk, e)...) : Op::template identity<float>();
        part[e] = chunk == 0 ? value : Op::combine(part[e], value);
      }
#pragma unroll
    for (int step = kWidth / 2; step > 0; step /= 2)
#pragma unroll
      for (int e = 0; e < step; ++e) part[e] = Op::combine(part[e], part[e + step]);
    return part[0];
  }

  template <int kAccess, class S, class Value>
  __device__ void store(S* to, const Value& value) const {
    constexpr int kBytes = kAccess * static_cast<int>(sizeof(S));
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk)
#pragma unroll
      for (int e = 0; e < kWidth; e += kAccess) {
        uint32_t words[kBytes < 4 ? 1 : kBytes / 4];
        if constexpr (sizeof(S) == 4) {
#pragma unroll
          for (int i = 0; i < kAccess; ++i)
            words[i] = __float_as_uint(element(value, chunk, e + i));
        } else if constexpr (kBytes == 2) {
          words[0] = convert<S>(element(value, chunk, e)).bits;
        } else {
#pragma unroll
          for (int i = 0; i < kAccess; i += 2)
            words[i / 2] = pack<S>(element(value, chunk, e + i), element(value, chunk, e + i + 1));
        }
        if (has(chunk, e)) store_words<kBytes>(to + column(chunk) + e, words);
      }
  }
  template <class S>
  __device__ void store_number(S* to, float value) const {
    if (member == 0 && (kTail == Tail::None || columns > 0)) put(to, value);
  }
};

// ---- reductions over a team ----

template <class Op, int kLanes>
__device__ float combine_neighbours(float value) {
#pragma unroll
  for (int mask = kLanes / 2; mask > 0; mask /= 2)
    value = Op::combine(value, from_lane_xor(value, mask));
  return value;
}

/// The combination of kParts numbers in shared memory, in every thread.
template <class Op, int kParts>
__device__ float gather(const float* parts) {
  if constexpr (kParts <= 8) {
    float value = parts[0];
#pragma unroll
    for (int i = 1; i < kParts; ++i) value = Op::combine(value, parts[i]);
    return value;
  } else {
    float value = parts[lane() % kParts];
#pragma unroll
    for (int i = kWarp; i < kParts; i += kWarp) value = Op::combine(value, parts[i + lane()]);
    return combine_neighbours < Op, kParts < kWarp ? kParts : kWarp > (value);
  }
}

/// Each of `values` becomes the combination by its Op over the kThreads threads of a team, in each
/// of kBlocks blocks. Called by all threads. A team of several warps is all of its blocks and goes
/// through `pad`, one number a warp and value; it must not be that of the call before.
template <int kThreads, int kBlocks, class... Ops, class... Values>
__device__ void combine_team(float* pad, Values&... values) {
  ((values = combine_neighbours < Ops, kThreads < kWarp ? kThreads : kWarp > (values)), ...);
  constexpr int kParts = kThreads * kBlocks / kWarp;
  if constexpr (kBlocks > 1) {
    float* to = pad + cluster_rank() * (kThreads / kWarp) + warp();
    if (lane() < kBlocks) ((store_remote(remote_address(to, lane()), values), to += kParts), ...);
    cluster_sync();
  } else if constexpr (kParts > 1) {
    float* to = pad + warp();
    if (lane() == 0) ((*to = values, to += kParts), ...);
    sync();
  }
  if constexpr (kParts > 1) {
    const float* from = pad;
    ((values = gather<Ops, kParts>(from), from += kParts), ...);
  }
}

}  // namespace mirage::cuda
