#pragma once
// What lowering must know about a machine, as data: one row a target. Rows of the CPU differ in the
// instruction set; GPU rows are named here so that every stage can say `unsupported` by name.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace mirage::lower {

enum class Backend : uint8_t { Cpu, Cuda, Triton };

struct MemoryLevel {
  std::string_view name;        // registers, L1, L2, L3, memory
  int64_t bytes;                // of one unit (core); 0: without limit
  double gigabytes_per_second;  // one unit alone; an order of magnitude for cost models
};

struct Target {
  std::string_view name;  // as on the command line, in records and in keys
  Backend backend = Backend::Cpu;
  std::string_view march{};  // option of the compiler, empty for its default
  int vector_bytes = 16;
  int tile_rows = 4;  // register tile of the matrix product: rows x vectors
  int tile_vectors = 2;
  double flops_per_cycle = 8;  // f32, one unit, fused multiply-add counts two
  std::vector<MemoryLevel> memory{};
  int64_t scratch_bytes = 0;  // of one work item at most: a block's shared memory; 0: no limit
  // How kernel-level operators are cut into work items: elements that are worth one, how many there
  // are at most, rows and columns of a product's tile.
  int64_t grain = 16384;
  int64_t most_items = 64;
  int64_t product_rows = 192;
  int64_t product_columns = 512;
  // Tiles that live in registers: products are cut to product_rows x product_columns whatever their
  // size, and inner axes are walked by loops of so many elements a step. 0: inner axes stay whole.
  int64_t product_depth = 0;
  int64_t reduction_tile = 0;    // elements of a step's tile, all axes together
  bool has_copy_engine = false;  // tensor maps, and barriers that count bytes
  int cluster_blocks = 1;        // that can run together and reach each other's shared memory
  int units = 1;  // CPU: cores this process may use, from the machine; GPU: multiprocessors
};

/// Null if the target has no such level.
const MemoryLevel* level_named(const Target& target, std::string_view name);

/// All rows; `units` is that of this machine for CPU rows.
std::span<const Target> target_table();

/// `cpu` and `native` mean the best row that this processor can run; otherwise a name of the table
/// (dashes and underscores are the same). BadInput lists the names.
Result<Target> target_named(std::string_view name);

/// Whether this processor can run code for a target.
bool runs_here(const Target& target);

}  // namespace mirage::lower
