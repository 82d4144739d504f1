#include "search/cost.h"

#include <algorithm>
#include <cmath>

namespace mirage::search {
namespace {

using ir::Form;
using ir::OpKind;

constexpr double kElementBytes = 4;  // values are computed in f32 or wider

bool is_costly(OpKind kind) {
  switch (kind) {
    case OpKind::Exp:
    case OpKind::Log:
    case OpKind::Pow:
    case OpKind::Sigmoid:
    case OpKind::Silu:
    case OpKind::Gelu:
    case OpKind::Tanh:
    case OpKind::Div:
    case OpKind::Sqrt:
    case OpKind::Rsqrt:
      return true;
    default:
      return false;
  }
}

/// Tile extents by class under these trips; whole extents for classes that no axis splits.
struct Tiles {
  std::vector<double> in_loop, after_loop;  // the loop's classes are whole (reduced) after it
};

Tiles tiles_of(const Structure& structure, const std::vector<int64_t>& trips) {
  Tiles tiles;
  for (const IndexClass& entry : structure.problem->classes)
    tiles.in_loop.push_back(static_cast<double>(entry.extent));
  tiles.after_loop = tiles.in_loop;
  for (size_t a = 0; a < structure.axes.size(); ++a)
    for (ClassId id : structure.axes[a].classes) {
      const double tile = std::ceil(tiles.in_loop[id] / static_cast<double>(trips[a]));
      tiles.in_loop[id] = tile;
      if (structure.axes[a].role == ir::Role::Grid) tiles.after_loop[id] = tile;
    }
  return tiles;
}

double elements(const Dims& dims, const std::vector<double>& tile) {
  double count = 1;
  for (ClassId id : dims)
    if (id != kNoClass) count *= tile[id];
  return count;
}

}  // namespace

CostEstimate estimate(const Structure& structure, const std::vector<int64_t>& trips,
                      const Limits& limits) {
  const Problem& problem = *structure.problem;
  const Tiles tiles = tiles_of(structure, trips);
  double blocks = 1, steps = 1;
  for (size_t a = 0; a < structure.axes.size(); ++a)
    (structure.axes[a].role == ir::Role::Grid ? blocks : steps) *= static_cast<double>(trips[a]);

  // Seconds of arithmetic of one block, bytes it moves, and what is live in one step.
  double compute = 0, ideal_compute = 0, moved = 0, unique = 0, live = 0, persistent = 0,
         launches = 0;
  CostEstimate cost;
  std::vector<double> whole;
  for (const IndexClass& entry : problem.classes)
    whole.push_back(static_cast<double>(entry.extent));
  for (const Step& step : structure.plan.steps) {
    const bool in_loop = step.state == State::InLoop || step.state >= State::PartialSum;
    const bool in_step = in_loop || step.kind == OpKind::Accum;
    const double times = in_step ? steps : 1;
    const auto& tile = in_loop ? tiles.in_loop : tiles.after_loop;
    const double count = elements(step.dims, tile);
    (in_loop ? live : persistent) += count * kElementBytes;
    launches += times;
    if (step.kind == OpKind::Const || step.kind == OpKind::Extent) continue;
    if (step.kind == OpKind::Load) {
      const ir::ValueId input = problem.program.inputs[static_cast<size_t>(step.attrs.axis)];
      const double bytes = static_cast<double>(ir::bytes_of(problem.program.type(input).dtype));
      moved += count * bytes * times;
      unique += elements(step.dims, whole) * bytes;
      continue;
    }
    const ir::OpDef& row = def(step.kind);
    double work = count, whole_work = elements(step.dims, whole), rate = limits.map_ops_per_second;
    if (row.form == Form::Contract || row.form == Form::Reduce) {
      const Step& arg = structure.plan.steps[step.args[0]];
      const ClassId over = step.kind == OpKind::MatMul
                               ? arg.dims.back()
                               : arg.dims[static_cast<size_t>(step.attrs.axis)];
      const bool arg_in_loop = arg.state == State::InLoop || arg.state >= State::PartialSum;
      const double factor =
          over == kNoClass ? 1 : (arg_in_loop ? tiles.in_loop : tiles.after_loop)[over];
      work *= factor;
      whole_work *= over == kNoClass ? 1 : whole[over];
      if (step.kind == OpKind::MatMul) {
        work *= 2;
        whole_work *= 2;
        rate = limits.matmul_flops_per_second;
      }
    } else if (is_costly(step.kind)) {
      rate = limits.exp_ops_per_second;
    }
    compute += work * times / rate;
    ideal_compute += whole_work / rate;
    cost.flops += work * times * blocks;
  }
  double stored = 0;
  for (ir::ValueId target : problem.targets)
    stored += elements(problem.dims_of(target), whole) * kElementBytes;

  cost.tile_bytes = live + persistent;
  // Tiles that outgrow the cache go to memory and back in every step.
  const double spill = cost.tile_bytes > limits.l2_bytes   ? 3
                       : cost.tile_bytes > limits.l1_bytes ? 1
                                                           : 0.5;
  const double cores = static_cast<double>(std::max(limits.cores, 1));
  const double rounds = std::ceil(blocks / cores);
  const double block_seconds = std::max(compute, spill * (moved + (live * steps + persistent)) /
                                                     limits.cache_bytes_per_second) +
                               limits.block_seconds + launches * limits.step_seconds;
  const double memory_seconds = (unique + stored) / limits.memory_bytes_per_second;
  cost.seconds = std::max(rounds * block_seconds, memory_seconds);
  cost.lower_bound_seconds = std::max(ideal_compute / cores, memory_seconds);
  return cost;
}

std::vector<int64_t> trip_candidates(const Problem& problem, const StructureAxis& axis,
                                     const Limits& limits) {
  std::vector<int64_t> result;
  const auto consider = [&](int64_t wanted) {
    if (wanted >= 1) result.push_back(fit_trips(problem, axis, wanted));
  };
  // Tiles of at least 4 elements, except that a grid class may be as fine as its extent when small.
  for (int64_t trips = 1; trips <= axis.extent; trips *= 2) {
    if (trips > 1024) break;
    consider(trips);
  }
  if (axis.role == ir::Role::Grid) {
    consider(limits.cores);
    consider(2 * int64_t{limits.cores});
    if (axis.extent <= 1024) consider(axis.extent);
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<Schedule> schedules(const Structure& structure, const Limits& limits, size_t k) {
  std::vector<std::vector<int64_t>> candidates;
  for (const StructureAxis& axis : structure.axes)
    candidates.push_back(trip_candidates(*structure.problem, axis, limits));
  std::vector<Schedule> result;
  std::vector<size_t> at(candidates.size(), 0);
  for (bool more = true; more;) {
    Schedule schedule;
    for (size_t a = 0; a < at.size(); ++a) schedule.trips.push_back(candidates[a][at[a]]);
    schedule.cost = estimate(structure, schedule.trips, limits);
    result.push_back(std::move(schedule));
    more = false;
    for (size_t a = 0; a < at.size() && !more; ++a) {
      more = ++at[a] < candidates[a].size();
      if (!more) at[a] = 0;
    }
  }
  std::stable_sort(result.begin(), result.end(), [](const Schedule& a, const Schedule& b) {
    return a.cost.seconds < b.cost.seconds;
  });
  if (result.size() > k) result.resize(k);
  return result;
}

}  // namespace mirage::search
