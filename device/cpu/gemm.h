// Matrix product of tiles, C = epilogue(A B) or C = epilogue(C + A B), on one thread.
//
// Products and sums are made in T (float or double); storage types are converted on load and store.
// The caller splits work over threads by passing views of parts of C. How it works:
//   - a register tile of Rows x Vectors accumulators runs over `depth` steps of k: a row vector of
//   B times broadcasts of A;
//   - A is packed as [k][row of the tile], so that the tile reads it in sequence whatever its
//   strides are;
//   - B is read in place when few row tiles would share a packed copy (the memory-bound case: B
//   streams past exactly once, in long runs, prefetched one chunk of k ahead and across the
//   caller's loop) and is packed into a panel that stays in L1 otherwise;
//   - partial sums over chunks of k wait in C itself if its type is T, else in scratch.
// Each chunk of k is summed in order and chunks are added in order: the error is that of a sum of k
// terms at worst. Nothing is read or written outside the matrices (prefetches may point there).
#pragma once

#include "mirage/cpu/copy.h"

namespace mirage::cpu {

/// B with rows of N contiguous elements (as in x W), or of K (as in x W^T). `stride` is the
/// distance of rows. `next` is the matrix of the caller's next product, fetched while this one
/// ends.
template <class S>
struct KByN {
  const S* data;
  int64_t stride;
  const S* next = data;
};
template <class S>
struct NByK {
  const S* data;
  int64_t stride;
};

template <class S>
KByN(const S*, int64_t) -> KByN<S>;
template <class S>
KByN(const S*, int64_t, const S*) -> KByN<S>;
template <class S>
NByK(const S*, int64_t) -> NByK<S>;

/// An extent known at compile time: saves instantiations and picks the best tile. Any integer does
/// as well.
template <int64_t Value>
inline constexpr std::integral_constant<int64_t, Value> kExtent{};

/// The epilogue is called with a vector of finished sums, its place in C and its live lanes, and
/// returns what to store.
struct StoreAsIs {
  template <class V>
  V operator()(V sums, int64_t /*row*/, int64_t /*col*/, int /*lanes*/) const {
    return sums;
  }
};

enum class Start { Zero, FromC };

namespace detail {

/// For how many steps of k the registers beside the sums hold vectors of B: few sums leave room,
/// and loads that far ahead of their use hide their latency. Half of the room is left to the
/// compiler.
template <class V, int Rows, int Vectors>
constexpr int steps_ahead() {
  return std::clamp((V::kRegisters - Rows * Vectors - 1) / (2 * Vectors), 0, 4);
}

template <class V, int Vectors, class S>
[[gnu::always_inline]] inline void load_columns(V (&columns)[Vectors], const S* b) {
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) columns[v] = V::load(b + v * V::kLanes);
}

/// One step of k.
template <int PrefetchLines, class V, int Rows, int Vectors>
[[gnu::always_inline]] inline void multiply_step(V (&sums)[Rows][Vectors],
                                                 const V (&columns)[Vectors],
                                                 const typename V::Element* a, const char* ahead) {
#pragma GCC unroll 8
  for (int line = 0; line < PrefetchLines; ++line) __builtin_prefetch(ahead + 64 * line, 0, 2);
#pragma GCC unroll 32
  for (int row = 0; row < Rows; ++row) {
    const V factor(a[row]);
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) sums[row][v] = fma(factor, columns[v], sums[row][v]);
  }
}

template <class V, int Rows, int Vectors, int PrefetchLines, class S>
[[gnu::always_inline]] inline void multiply_tile(V (&sums)[Rows][Vectors], int64_t depth,
                                                 const typename V::Element* a, const S* b,
                                                 int64_t b_stride, const char* ahead,
                                                 int64_t ahead_stride) {
  constexpr int kSteps = steps_ahead<V, Rows, Vectors>();
  int64_t k = 0;
  if constexpr (kSteps > 0) {
    V columns[kSteps][Vectors];  // of the steps from k on
    if (depth >= kSteps) {
#pragma GCC unroll 4
      for (int step = 0; step < kSteps; ++step) load_columns(columns[step], b + step * b_stride);
      b += kSteps * b_stride;
      for (; k + 2 * kSteps <= depth; k += kSteps) {
#pragma GCC unroll 4
        for (int step = 0; step < kSteps; ++step) {
          multiply_step<PrefetchLines>(sums, columns[step], a, ahead);
          load_columns(columns[step], b);
          a += Rows;
          b += b_stride;
          ahead += ahead_stride;
        }
      }
#pragma GCC unroll 4
      for (int step = 0; step < kSteps; ++step) {
        multiply_step<PrefetchLines>(sums, columns[step], a, ahead);
        a += Rows;
        ahead += ahead_stride;
      }
      k += kSteps;
    }
  }
  for (; k < depth; ++k) {
    V columns[Vectors];
    load_columns(columns, b);
    multiply_step<PrefetchLines>(sums, columns, a, ahead);
    a += Rows;
    b += b_stride;
    ahead += ahead_stride;
  }
}

/// One register tile over one chunk of k: what to read, and where its sums come from and go to.
template <class T, class S, class C, class Epilogue>
struct TileJob {
  int64_t depth;
  const T* a;
  const S* b;
  int64_t b_stride;
  const char* ahead;  // prefetched, one step of k at a time
  int64_t ahead_stride;
  T* partial;       // sums of earlier chunks, or null: this is the first
  T* next_partial;  // where unfinished sums go, or null: this is the last
  int64_t partial_stride;
  C* c;  // the tile's corner
  int64_t c_stride;
  bool from_c;  // the first chunk starts from C
  int64_t row, col, cols;
  const Epilogue* epilogue;
};

template <class V, int Rows, int Vectors, int PrefetchLines, class S, class C, class Epilogue>
[[gnu::noinline]] void run_tile(const TileJob<typename V::Element, S, C, Epilogue>& job) {
  V sums[Rows][Vectors];
  const auto lanes_of = [&](int v) {
    return static_cast<int>(std::clamp<int64_t>(job.cols - v * V::kLanes, 0, V::kLanes));
  };
  const bool is_full = job.cols >= Vectors * V::kLanes;
  if (job.partial) {
#pragma GCC unroll 32
    for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) {
        const auto* from = job.partial + row * job.partial_stride + v * V::kLanes;
        sums[row][v] = is_full ? V::load(from) : V::load(from, lanes_of(v));
      }
    }
  } else if (job.from_c) {
#pragma GCC unroll 32
    for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v)
        sums[row][v] = V::load(job.c + row * job.c_stride + v * V::kLanes, lanes_of(v));
    }
  } else {
#pragma GCC unroll 32
    for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) sums[row][v] = V(typename V::Raw{});
    }
  }

  multiply_tile<V, Rows, Vectors, PrefetchLines>(sums, job.depth, job.a, job.b, job.b_stride,
                                                 job.ahead, job.ahead_stride);

  if (job.next_partial) {
#pragma GCC unroll 32
    for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 8
      for (int v = 0; v < Vectors; ++v) {
        auto* to = job.next_partial + row * job.partial_stride + v * V::kLanes;
        if (is_full) {
          sums[row][v].store(to);
        } else {
          sums[row][v].store(to, lanes_of(v));
        }
      }
    }
    return;
  }
#pragma GCC unroll 32
  for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) {
      C* to = job.c + row * job.c_stride + v * V::kLanes;
      const int64_t col = job.col + v * V::kLanes;
      if (is_full) {
        (*job.epilogue)(sums[row][v], job.row + row, col, V::kLanes).store(to);
      } else if (lanes_of(v) > 0) {
        (*job.epilogue)(sums[row][v], job.row + row, col, lanes_of(v)).store(to, lanes_of(v));
      }
    }
  }
}

/// Calls f(std::integral_constant<int, rows>) for a run-time number of rows in [Low, High].
template <int Low, int High, class F>
void with_rows(int rows, F f) {
  if constexpr (Low == High) {
    f(std::integral_constant<int, Low>());
  } else {
    if (rows == High) return f(std::integral_constant<int, High>());
    with_rows<Low, High - 1>(rows, f);
  }
}

/// Vectors in a tile of that many rows: few rows want long runs of B, as far as registers hold
/// them; more than kTileRows leave room for one. From half the height on, which is what tiles have
/// when there are several, the answer is one and the same.
template <class Isa>
constexpr int vectors_for(int64_t rows) {
  if (rows > Isa::kTileRows) return 1;
  int vectors = 8;
  while (vectors > Isa::kTileVectors && rows * vectors >= Isa::kTileRows * Isa::kTileVectors)
    vectors /= 2;
  return vectors;
}

/// Splits m rows into tiles of nearly equal height.
template <class Isa>
struct RowTiles {
  int64_t count, height, taller;  // the first `taller` tiles have height + 1 rows

  /// Up to twice kTileRows may go into one tile, a single vector wide: B then passes through
  /// registers once only. That costs as many instantiations again, so it is done where m is known
  /// at compile time.
  constexpr RowTiles(int64_t m, bool is_fixed)
      : count(is_fixed && m <= Isa::kTileRows * Isa::kTileVectors
                  ? 1
                  : (m + Isa::kTileRows - 1) / Isa::kTileRows),
        height(m / count),
        taller(m % count) {}
  constexpr int64_t start(int64_t tile) const { return tile * height + std::min(tile, taller); }
  constexpr int rows(int64_t tile) const {
    return static_cast<int>(height + (tile < taller ? 1 : 0));
  }
};

/// Packs a row tile of A as [k][row]. `to` must have room for kLanes elements more than rows *
/// depth.
template <class V, class S>
void pack_rows(int rows, int64_t depth, Tile<const S> a, typename V::Element* to) {
  if (a.col_stride != 1 || rows > V::kLanes) {
    for (int64_t k = 0; k < depth; ++k) {
      for (int row = 0; row < rows; ++row)
        to[k * rows + row] = widen<typename V::Element>(*a.at(row, k));
    }
    return;
  }
  if (rows == 1) return copy_row<V>(depth, a.data, to);
  int64_t k = 0;
  for (; k + V::kLanes <= depth; k += V::kLanes) {
    V block[V::kLanes];
#pragma GCC unroll 32
    for (int row = 0; row < V::kLanes; ++row)
      block[row] = V::load(a.at(std::min(row, rows - 1), k));
    transpose(block);
    // Full stores in order of k: what one writes beyond its rows, the next overwrites.
#pragma GCC unroll 32
    for (int i = 0; i < V::kLanes; ++i) block[i].store(to + (k + i) * rows);
  }
  for (; k < depth; ++k) {
    for (int row = 0; row < rows; ++row)
      to[k * rows + row] = widen<typename V::Element>(*a.at(row, k));
  }
}

/// Block sizes for one product.
struct Plan {
  bool packs_b;
  int64_t chunk;  // k per pass
  int64_t width;  // columns per block
  int64_t tiles;  // row tiles per block

  /// b_in_place: B has contiguous rows of N.
  template <class Isa>
  static Plan make(const RowTiles<Isa>& tiles, int64_t n, int64_t k, size_t element,
                   bool b_in_place, int64_t b_stride, bool partials_in_c) {
    const int64_t row_tiles = tiles.count;
    const int64_t l1_elements = static_cast<int64_t>(32768 / element);
    Plan plan;
    plan.packs_b = !b_in_place || row_tiles > 3;
    plan.tiles = row_tiles;
    if (!plan.packs_b) {
      // A large B streams past: short chunks and wide blocks read it in long runs, sums of a block
      // stay in L2. So does a part of a wider matrix, whose rows collide in the caches.
      const bool is_small = k * n <= 16 * l1_elements && b_stride <= 2 * n;
      plan.chunk = is_small                            ? std::min<int64_t>(k, 256)
                   : tiles.height > Isa::kTileRows / 2 ? 32
                                                       : 16;
      plan.width = is_small && partials_in_c ? n : 1024;
    } else {
      plan.chunk = std::min<int64_t>(k, 256);
      plan.tiles = std::min<int64_t>(row_tiles, (24 * l1_elements) / (plan.chunk * Isa::kTileRows));
      plan.width = partials_in_c || k <= plan.chunk
                       ? n
                       : std::max<int64_t>(
                             128, (32 * l1_elements) / (plan.tiles * Isa::kTileRows) / 128 * 128);
    }
    if (k <= plan.chunk) plan.width = n;
    return plan;
  }
};

}  // namespace detail

/// C[m, n] = epilogue(A[m, k] B[k, n]), or of C + A B. A may have any strides; C has contiguous
/// rows, c_stride apart. m, n, k: integers or kExtent<...>. B: KByN<S> or NByK<S>.
template <class T, class Isa, class M, class N, class K, class SA, class B, class SC,
          class Epilogue = StoreAsIs>
void gemm(M m, N n, K k, Tile<const SA> a, B b, SC* c, int64_t c_stride, Workspace& workspace,
          Start start = Start::Zero, const Epilogue& epilogue = {}) {
  using V = Vec<T, Isa>;
  using SB = std::remove_const_t<std::remove_pointer_t<decltype(b.data)>>;
  constexpr bool kInPlace = std::is_same_v<B, KByN<SB>>;
  constexpr bool kPartialsInC = std::is_same_v<SC, T>;
  const int64_t rows_total = m, cols_total = n, depth_total = k;
  if (rows_total <= 0 || cols_total <= 0) return;

  constexpr bool kFixedRows = requires { std::integral_constant<int64_t, M::value>(); };
  const detail::RowTiles<Isa> tiles(rows_total, kFixedRows);
  const detail::Plan plan = detail::Plan::make<Isa>(tiles, cols_total, depth_total, sizeof(T),
                                                    kInPlace, b.stride, kPartialsInC);

  // Scratch: packed A block, one packed panel of B, partial sums.
  const int64_t chunk = std::max<int64_t>(plan.chunk, 1);
  constexpr int64_t kWidest = 8 * V::kLanes;
  const int64_t block_rows = std::min<int64_t>(rows_total, plan.tiles * (tiles.height + 1));
  const int64_t width = std::min(plan.width, cols_total);
  T* const packed_a = reinterpret_cast<T*>(workspace.reserve(
      sizeof(T) * static_cast<size_t>(block_rows * chunk + V::kLanes + chunk * kWidest + 64 +
                                      (kPartialsInC ? 0 : block_rows * width))));
  T* const panel = packed_a + (block_rows * chunk + V::kLanes + 15) / 16 * 16;
  T* const sums = panel + chunk * kWidest;

  // One register tile; `Rows` and `Vectors` are constants here.
  const auto run = [&](auto rows, auto in_place, const auto& job) {
    constexpr int kVectors = detail::vectors_for<Isa>(rows);
    constexpr int kLines = std::max<int>(1, kVectors * V::kLanes * sizeof(SB) / 64);
    detail::run_tile<V, rows, kVectors, in_place ? kLines : 1>(job);
  };
  const auto dispatch = [&](int rows, auto in_place, const auto& job) {
    const auto call = [&](auto constant) { run(constant, in_place, job); };
    if constexpr (kFixedRows) {
      constexpr detail::RowTiles<Isa> kTiles(M::value, true);
      detail::with_rows<int(kTiles.height), int(kTiles.height + (kTiles.taller > 0))>(rows, call);
    } else {
      detail::with_rows<1, Isa::kTileRows>(rows, call);
    }
  };
  const int64_t panel_width = detail::vectors_for<Isa>(tiles.rows(0)) * V::kLanes;

  const auto b_at = [&](int64_t kk, int64_t j) {
    return kInPlace ? b.data + kk * b.stride + j : b.data + j * b.stride + kk;
  };
  const auto pack_panel = [&](int64_t k0, int64_t depth, int64_t j, int64_t cols) {
    for (int64_t kk = 0; cols < panel_width && kk < depth; ++kk) {
      for (int64_t x = cols; x < panel_width; ++x) panel[kk * panel_width + x] = T{0};
    }
    if constexpr (kInPlace) {
      for (int64_t kk = 0; kk < depth; ++kk)
        copy_row<V>(cols, b_at(k0 + kk, j), panel + kk * panel_width);
    } else {
      copy_transposed<V>(cols, depth, b_at(k0, j), b.stride, panel, panel_width);
    }
  };

  for (int64_t tile0 = 0; tile0 < tiles.count; tile0 += plan.tiles) {
    const int64_t tile1 = std::min(tile0 + plan.tiles, tiles.count);
    const int64_t row0 = tiles.start(tile0);
    for (int64_t j0 = 0; j0 < cols_total; j0 += width) {
      const int64_t j1 = std::min(j0 + width, cols_total);
      for (int64_t k0 = 0; k0 == 0 || k0 < depth_total; k0 += chunk) {
        const int64_t depth = std::min(chunk, depth_total - k0);
        const bool is_first = k0 == 0, is_last = k0 + chunk >= depth_total;
        for (int64_t tile = tile0; tile < tile1; ++tile) {
          const int64_t row = tiles.start(tile);
          detail::pack_rows<V>(tiles.rows(tile), depth,
                               Tile<const SA>{a.at(row, k0), a.row_stride, a.col_stride},
                               packed_a + (row - row0) * depth);
        }
        for (int64_t j = j0; j < j1; j += panel_width) {
          const int64_t cols = std::min(panel_width, j1 - j);
          const bool in_place = kInPlace && !plan.packs_b && cols == panel_width;
          if (!in_place) pack_panel(k0, depth, j, cols);
          for (int64_t tile = tile0; tile < tile1; ++tile) {
            const int64_t row = tiles.start(tile);
            const auto fill = [&](auto& job) {
              job.depth = depth;
              job.a = packed_a + (row - row0) * depth;
              job.partial_stride = kPartialsInC ? c_stride : width;
              T* partial;
              if constexpr (kPartialsInC) {
                partial = c + row * c_stride + j;
              } else {
                partial = sums + (row - row0) * width + (j - j0);
              }
              job.partial = is_first ? nullptr : partial;
              job.next_partial = is_last ? nullptr : partial;
              job.c = c + row * c_stride + j;
              job.c_stride = c_stride;
              job.from_c = start == Start::FromC;
              job.row = row;
              job.col = j;
              job.cols = cols;
              job.epilogue = &epilogue;
            };
            if (in_place) {
              if constexpr (kInPlace) {
                detail::TileJob<T, SB, SC, Epilogue> job;
                fill(job);
                job.b = b_at(k0, j);
                job.b_stride = b.stride;
                job.ahead = reinterpret_cast<const char*>(tile != tile0 ? job.b
                                                          : is_last     ? b.next + j
                                                                        : b_at(k0 + chunk, j));
                job.ahead_stride = b.stride * int64_t{sizeof(SB)};
                dispatch(tiles.rows(tile), std::true_type(), job);
              }
            } else {
              detail::TileJob<T, T, SC, Epilogue> job;
              fill(job);
              job.b = panel;
              job.b_stride = panel_width;
              // The first tiles fetch the next panel, one cache line a step each.
              const int64_t line = (tile - tile0) * int64_t(64 / sizeof(SB));
              const bool fetches = kInPlace && line < panel_width && j + panel_width < j1;
              job.ahead = reinterpret_cast<const char*>(panel);
              job.ahead_stride = 0;
              if (fetches) {
                job.ahead = reinterpret_cast<const char*>(b_at(k0, j + panel_width) + line);
                job.ahead_stride = b.stride * int64_t{sizeof(SB)};
              }
              dispatch(tiles.rows(tile), std::false_type(), job);
            }
          }
        }
      }
    }
  }
}

}  // namespace mirage::cpu
