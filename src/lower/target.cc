#include "lower/target.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

namespace mirage::lower {
namespace {

std::vector<Target> make_table() {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const std::vector<MemoryLevel> cpu = {
      {"L1", 32 << 10, 200}, {"L2", 1 << 20, 80}, {"L3", 16 << 20, 25}, {"memory", 0, 10}};
  std::vector<Target> table;
  table.push_back({.name = "cpu-avx512",
                   .march = "x86-64-v4",
                   .vector_bytes = 64,
                   .tile_rows = 14,
                   .tile_vectors = 2,
                   .flops_per_cycle = 64,
                   .memory = cpu,
                   .units = cores});
  table.push_back({.name = "cpu-avx2",
                   .march = "x86-64-v3",
                   .vector_bytes = 32,
                   .tile_rows = 6,
                   .tile_vectors = 2,
                   .flops_per_cycle = 32,
                   .memory = cpu,
                   .units = cores});
  table.push_back({.name = "cpu-portable", .memory = cpu, .units = cores});
  // Shared memory that a block can ask for; multiprocessors of the largest device.
  struct Gpu {
    std::string_view name, march;
    int64_t shared_bytes;
    int units;
    bool has_copy_engine = false;
  };
  constexpr int64_t kMost80 = 163 << 10, kMost86 = 99 << 10, kMost90 = 227 << 10;
  for (const Gpu& gpu :
       {Gpu{"sm_80", "sm_80", kMost80, 108}, Gpu{"sm_86", "sm_86", kMost86, 84},
        Gpu{"sm_89", "sm_89", kMost86, 142}, Gpu{"sm_90", "sm_90a", kMost90, 132, true},
        Gpu{"sm_100", "sm_100", kMost90, 148, true}, Gpu{"sm_120", "sm_120", kMost86, 170, true}})
    table.push_back(
        {.name = gpu.name,
         .backend = Backend::Cuda,
         .march = gpu.march,
         .flops_per_cycle = 256,
         .memory = {{"L1", gpu.shared_bytes, 200}, {"L2", 50 << 20, 40}, {"memory", 0, 30}},
         .scratch_bytes = gpu.shared_bytes,
         .grain = 1024,
         .most_items = 65536,
         .product_rows = 64,
         .product_columns = 64,
         .has_copy_engine = gpu.has_copy_engine,
         .cluster_blocks = gpu.has_copy_engine ? 8 : 1,
         .units = gpu.units});
  // Programs for any GPU; the figures are those of sm_90.
  table.push_back({.name = "triton",
                   .backend = Backend::Triton,
                   .flops_per_cycle = 256,
                   .memory = {{"L1", kMost90, 200}, {"L2", 50 << 20, 40}, {"memory", 0, 30}},
                   .scratch_bytes = kMost90,
                   .grain = 1024,
                   .most_items = 65536,
                   .product_rows = 64,
                   .product_columns = 64,
                   .product_depth = 64,
                   .reduction_tile = 4096,
                   .units = 132});
  return table;
}

}  // namespace

const MemoryLevel* level_named(const Target& target, std::string_view name) {
  for (const MemoryLevel& level : target.memory)
    if (level.name == name) return &level;
  return nullptr;
}

std::span<const Target> target_table() {
  static const std::vector<Target> kTable = make_table();
  return kTable;
}

bool runs_here(const Target& target) {
  if (target.backend != Backend::Cpu) return false;
  if (target.march.empty()) return true;
#if defined(__x86_64__)
  // What device/cpu/target.h asks of the compiler, asked of the processor.
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi2");
  if (target.march == "x86-64-v3") return has_avx2;
  if (target.march == "x86-64-v4")
    return has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd");
#endif
  return false;
}

Result<Target> target_named(std::string_view name) {
  std::string plain(name);
  std::replace(plain.begin(), plain.end(), '-', '_');
  std::vector<std::string_view> names;
  for (const Target& target : target_table()) {
    std::string row(target.name);
    std::replace(row.begin(), row.end(), '-', '_');
    std::string short_row = row;  // sm90 is sm_90
    short_row.erase(std::remove(short_row.begin(), short_row.end(), '_'), short_row.end());
    const bool is_best = (name == "cpu" || name == "native") && runs_here(target);
    if (is_best || plain == row || (target.backend == Backend::Cuda && plain == short_row))
      return target;
    names.push_back(target.name);
  }
  return bad_input("unknown target {}: expected cpu, native or one of {}", name,
                   fmt::join(names, ", "));
}

}  // namespace mirage::lower
