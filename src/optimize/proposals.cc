#include "optimize/proposals.h"

#include <algorithm>

namespace mirage::optimize {
namespace {

std::string describe(const search::Structure& structure, const std::vector<int64_t>& trips) {
  std::string text;
  for (size_t i = 0; i < trips.size(); ++i)
    text += fmt::format("{}{} {} {}", i == 0 ? "" : ", ", ir::name_of(structure.axes[i].role),
                        structure.axes[i].name, trips[i]);
  return text;
}

}  // namespace

namespace {

search::Limits cpu_limits(const lower::Target& target, int threads) {
  search::Limits limits;
  limits.cores = threads;
  if (const auto* level = lower::level_named(target, "L1"))
    limits.l1_bytes = static_cast<double>(level->bytes);
  if (const auto* level = lower::level_named(target, "L2")) {
    limits.l2_bytes = static_cast<double>(level->bytes);
    if (level->gigabytes_per_second > 0) limits.rates.loads = level->gigabytes_per_second * 1e9;
  }
  // About 2.5 GHz, half of the peak: what tiles of ordinary sizes reach.
  if (target.flops_per_cycle > 0) limits.rates.matmul_flops = target.flops_per_cycle * 1.25e9;
  return limits;
}

/// A multiprocessor whose values are in registers and whose tiles are copied ahead of their use.
constexpr search::Rates kStreamed{.matmul_flops = 2.5e12,
                                  .map_ops = 200e9,
                                  .costly_ops = 25e9,
                                  .loads = 60e9,
                                  .block_seconds = 2e-6,
                                  .step_seconds = 2e-9};

search::Limits gpu_limits(const lower::Target& target) {
  search::Limits limits;
  limits.cores = target.units;
  limits.scratch_bytes = static_cast<double>(target.scratch_bytes);
  limits.l1_bytes = limits.l2_bytes = limits.scratch_bytes;
  if (const auto* level = lower::level_named(target, "memory"))
    limits.memory_bytes_per_second = level->gigabytes_per_second * 1e9 * target.units;
  // Steps by the whole block: no tensor cores, every value through shared memory. Figures of a
  // multiprocessor, by order of magnitude.
  limits.rates = {.matmul_flops = 60e9,
                  .map_ops = 60e9,
                  .costly_ops = 15e9,
                  .loads = 60e9,
                  .block_seconds = 1e-6,
                  .step_seconds = 1e-6};
  limits.micro_rows = 16;
  limits.micro_columns = 8;
  if (target.backend == lower::Backend::Triton) {
    // Its compiler stages tiles and uses tensor cores.
    limits.holds_tiles = true;
    limits.rates = kStreamed;
    limits.rates.step_seconds = 1e-7;
    return limits;
  }
  if (target.has_copy_engine) limits.streaming = search::Streaming{.rates = kStreamed};
  limits.rows = search::InRegisters{.rates = {.matmul_flops = 60e9,
                                              .map_ops = 200e9,
                                              .costly_ops = 25e9,
                                              .loads = 60e9,
                                              .block_seconds = 1.5e-6,
                                              .step_seconds = 0},
                                    .blocks = target.cluster_blocks};
  return limits;
}

}  // namespace

search::Limits limits_of(const lower::Target& target, int threads) {
  return target.backend == lower::Backend::Cpu ? cpu_limits(target, threads) : gpu_limits(target);
}

Proposals::Proposals(std::vector<search::Structure> structures, const search::Limits& limits,
                     size_t schedules_per_structure)
    : structures_(std::move(structures)) {
  for (size_t i = 0; i < structures_.size(); ++i) {
    Ranked ranked{i, search::schedules(structures_[i], limits, schedules_per_structure)};
    schedules_ += ranked.schedules.size();
    if (!ranked.schedules.empty()) ranked_.push_back(std::move(ranked));
  }
  std::stable_sort(ranked_.begin(), ranked_.end(), [](const Ranked& a, const Ranked& b) {
    return a.schedules[0].cost.seconds < b.schedules[0].cost.seconds;
  });
}

std::vector<Proposal> Proposals::take(Ranked& ranked, size_t count) {
  std::vector<Proposal> proposals;
  const search::Structure& structure = structures_[ranked.structure];
  while (proposals.size() < count && ranked.next < ranked.schedules.size()) {
    const search::Schedule& schedule = ranked.schedules[ranked.next++];
    const Result<ir::GraphPtr> graph = structure.instantiate(schedule.trips);
    if (!graph || std::find(given_.begin(), given_.end(), (*graph)->hash) != given_.end()) continue;
    given_.push_back((*graph)->hash);
    proposals.push_back({*graph, structure.describe(), describe(structure, schedule.trips),
                         schedule.cost.seconds * 1e6, ranked.structure});
  }
  return proposals;
}

std::vector<Proposal> Proposals::first_wave(size_t count) {
  std::vector<Proposal> proposals;
  for (Ranked& ranked : ranked_) {
    if (proposals.size() >= count) break;
    for (Proposal& proposal : take(ranked, 1)) proposals.push_back(std::move(proposal));
  }
  return proposals;
}

std::vector<Proposal> Proposals::more_of(size_t structure, size_t count) {
  for (Ranked& ranked : ranked_)
    if (ranked.structure == structure) return take(ranked, count);
  return {};
}

}  // namespace mirage::optimize
