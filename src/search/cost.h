#pragma once
// Tile sizes for a structure, ranked by a simple model of a cached multi-core machine. The model
// decides what is built and timed, never what is found.

#include <optional>

#include "search/structure.h"

namespace mirage::search {

/// What a core does in a second.
struct Rates {
  double matmul_flops = 40e9;
  double map_ops = 8e9;         // adds, multiplies
  double costly_ops = 1e9;      // exp, divisions and other costly maps
  double loads = 40e9;          // bytes of tiles, from the nearest shared cache
  double block_seconds = 2e-6;  // starting one block
  double step_seconds = 5e-8;   // one operator of one step
};

/// Loops whose values stay in registers while their tiles are copied ahead of their use.
struct Streaming {
  Rates rates;
  int64_t slice = 16;             // a step's elements along the loop are a multiple
  int64_t most_step = 256;        // and at most so many
  int64_t columns = 8;            // of a product's tile: a multiple
  int most_split = 8;             // cores that share the steps of a loop where the grid is small
  double split_seconds = 1.5e-6;  // what sharing costs
  double least_stages = 4;        // that must fit the scratch memory
};

/// Kernels without a loop whose rows stay in registers (row_rules.h).
struct InRegisters {
  Rates rates;
  int64_t threads = 256;    // of a block that holds a long row
  int64_t registers = 223;  // of a thread for values of 4 bytes
  int64_t blocks = 1;       // that can hold a row together
};

/// What the schedules are sized for.
struct Limits {
  int cores = 1;
  double l1_bytes = 32e3;
  double l2_bytes = 1e6;
  double scratch_bytes = 0;  // that a block has at most; 0: no limit
  bool holds_tiles = false;  // loaded tiles are in scratch memory too, not read where they lie
  Rates rates;
  std::optional<Streaming> streaming{};   // none: no such loops
  std::optional<InRegisters> rows{};      // none: no such kernels
  double memory_bytes_per_second = 12e9;  // all cores together
  // A product's tile that the micro-kernel fills.
  double micro_rows = 6, micro_columns = 32;
};

struct CostEstimate {
  double seconds = 0;
  double lower_bound_seconds = 0;  // roofline: no schedule of this structure is faster
  double tile_bytes = 0;           // live in one loop step
  double flops = 0;
};

struct Schedule {
  std::vector<int64_t> trips;  // one per axis of the structure
  CostEstimate cost;
};

CostEstimate estimate(const Structure& structure, const std::vector<int64_t>& trips,
                      const Limits& limits);

/// Trip counts worth trying for an axis: 1, powers of two and multiples of the cores, fitted.
std::vector<int64_t> trip_candidates(const Problem& problem, const StructureAxis& axis,
                                     const Limits& limits);

/// The k best schedules by the model, best first; deterministic.
std::vector<Schedule> schedules(const Structure& structure, const Limits& limits, size_t k);

}  // namespace mirage::search
