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

search::Limits limits_of(const lower::Target& target, int threads) {
  search::Limits limits;
  const bool is_gpu = target.backend != lower::Backend::Cpu;
  limits.cores = is_gpu ? target.units : threads;
  limits.scratch_bytes = static_cast<double>(target.scratch_bytes);
  if (const auto* level = lower::level_named(target, "L1"))
    limits.l1_bytes = static_cast<double>(level->bytes);
  if (const auto* level = lower::level_named(target, "L2")) {
    limits.l2_bytes = static_cast<double>(level->bytes);
    if (level->gigabytes_per_second > 0)
      limits.cache_bytes_per_second = level->gigabytes_per_second * 1e9;
  }
  if (const auto* level = lower::level_named(target, "memory"); level && is_gpu)
    limits.memory_bytes_per_second = level->gigabytes_per_second * 1e9 * target.units;
  // About 2.5 GHz, half of the peak: what tiles of ordinary sizes reach.
  if (target.flops_per_cycle > 0) limits.matmul_flops_per_second = target.flops_per_cycle * 1.25e9;
  return limits;
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
