#include "search/cost.h"

#include <algorithm>
#include <cmath>

#include "search/costly.h"
#include "search/phases.h"

namespace mirage::search {
namespace {

using ir::Form;
using ir::OpKind;

constexpr double kElementBytes = 4;  // values are computed in f32 or wider

double elements(const Dims& dims, const std::vector<double>& tile) {
  double count = 1;
  for (ClassId id : dims)
    if (id != kNoClass) count *= tile[id];
  return count;
}

/// What one block does, and what the same work would take without tiling.
struct Work {
  double compute = 0;     // seconds of arithmetic of one block
  double flops = 0;       // of one block
  double whole = 0;       // seconds of arithmetic if nothing were computed twice
  double loaded = 0;      // bytes that loads of one block touch
  double unique = 0;      // bytes of the inputs, each once
  double computed = 0;    // bytes that operators of one block write, over all steps
  double in_step = 0;     // bytes of values of one step
  double persistent = 0;  // bytes of values that live over all steps
  double operators = 0;   // operators run by one block, over all steps
};

bool is_in_loop(State state) { return state == State::InLoop || is_partial(state); }

class Estimator {
 public:
  Estimator(const Structure& structure, const std::vector<int64_t>& trips, const Limits& limits)
      : structure_(structure), problem_(*structure.problem), limits_(limits) {
    for (const IndexClass& entry : problem_.classes)
      whole_.push_back(static_cast<double>(entry.extent));
    in_loop_ = after_loop_ = whole_;
    for (size_t a = 0; a < structure.axes.size(); ++a) {
      const bool is_grid = structure.axes[a].role == ir::Role::Grid;
      (is_grid ? blocks_ : steps_) *= static_cast<double>(trips[a]);
      for (ClassId id : structure.axes[a].classes) {
        in_loop_[id] = std::ceil(in_loop_[id] / static_cast<double>(trips[a]));
        if (is_grid) after_loop_[id] = in_loop_[id];
      }
    }
  }

  CostEstimate run() {
    Work work;
    for (const Step& step : structure_.plan.steps) add(step, work);
    double stored = 0;
    for (ir::ValueId target : problem_.targets)
      stored += elements(problem_.dims_of(target), whole_) *
                static_cast<double>(ir::bytes_of(problem_.program.type(target).dtype));

    CostEstimate cost;
    const double cores = std::max(limits_.cores, 1);
    cost.flops = work.flops * blocks_;
    cost.tile_bytes = work.in_step + work.persistent;
    // Values are written and read once; where a step outgrows L2, through memory.
    const double core_memory = limits_.memory_bytes_per_second / cores;
    const double value_rate = cost.tile_bytes <= limits_.l1_bytes
                                  ? 2 * limits_.cache_bytes_per_second
                              : cost.tile_bytes <= limits_.l2_bytes
                                  ? limits_.cache_bytes_per_second
                                  : std::min(limits_.cache_bytes_per_second, core_memory);
    const double block = work.compute + 2 * work.computed / value_rate +
                         work.loaded / limits_.cache_bytes_per_second + limits_.block_seconds +
                         work.operators * limits_.step_seconds;
    const double running = std::ceil(blocks_ / cores) * block;
    const double memory = (work.unique + stored) / limits_.memory_bytes_per_second;
    // Reading ahead hides most of the shorter of the two.
    cost.seconds = std::max(running, memory) + kExposed * std::min(running, memory);
    cost.lower_bound_seconds = std::max(work.whole / cores, memory);
    return cost;
  }

 private:
  void add(const Step& step, Work& work) const {
    if (step.kind == OpKind::Const || step.kind == OpKind::Extent) return;
    const bool in_loop = is_in_loop(step.state);
    const double times = in_loop || step.kind == OpKind::Accum ? steps_ : 1;
    const double count = elements(step.dims, in_loop ? in_loop_ : after_loop_);
    work.operators += times;
    if (step.kind == OpKind::Load) {
      const ir::ValueId input = problem_.program.inputs[static_cast<size_t>(step.attrs.axis)];
      const double bytes = static_cast<double>(ir::bytes_of(problem_.program.type(input).dtype));
      work.loaded += count * bytes * times;
      work.unique += elements(step.dims, whole_) * bytes;
      return;
    }
    (in_loop ? work.in_step : work.persistent) += count * kElementBytes;
    work.computed += count * kElementBytes * times;
    const ir::OpDef& row = def(step.kind);
    double per_element = 1, whole_per_element = 1, rate = limits_.map_ops_per_second;
    if (row.form == Form::Contract || row.form == Form::Reduce) {
      const Step& arg = structure_.plan.steps[step.args[0]];
      const ClassId over = reduced_class(step.kind, step.attrs, arg.dims);
      if (over != kNoClass) {
        per_element = (is_in_loop(arg.state) ? in_loop_ : after_loop_)[over];
        whole_per_element = whole_[over];
      }
      if (step.kind == OpKind::MatMul) {
        per_element *= 2;
        whole_per_element *= 2;
        rate = limits_.matmul_flops_per_second;
      }
    } else if (is_costly(step.kind)) {
      rate = limits_.exp_ops_per_second;
    }
    // A micro-kernel half filled takes as long as a full one.
    const double filled = step.kind == OpKind::MatMul ? fill(step, in_loop) : 1;
    work.flops += count * per_element * times;
    work.compute += count * per_element * times / (rate * filled);
    work.whole += elements(step.dims, whole_) * whole_per_element / rate;
  }

  double fill(const Step& step, bool in_loop) const {
    const auto& tile = in_loop ? in_loop_ : after_loop_;
    const auto part = [&](ClassId id, double unit) {
      const double extent = id == kNoClass ? 1 : tile[id];
      return extent / (unit * std::ceil(extent / unit));
    };
    const size_t rank = step.dims.size();
    return part(step.dims[rank - 1], kMicroColumns) *
           std::sqrt(part(step.dims[rank - 2], kMicroRows));
  }

  static constexpr double kExposed = 0.25, kMicroColumns = 32, kMicroRows = 6;
  const Structure& structure_;
  const Problem& problem_;
  const Limits& limits_;
  std::vector<double> whole_, in_loop_, after_loop_;  // extents by class
  double blocks_ = 1, steps_ = 1;
};

}  // namespace

CostEstimate estimate(const Structure& structure, const std::vector<int64_t>& trips,
                      const Limits& limits) {
  return Estimator(structure, trips, limits).run();
}

std::vector<int64_t> trip_candidates(const Problem& problem, const StructureAxis& axis,
                                     const Limits& limits) {
  std::vector<int64_t> result;
  const auto consider = [&](int64_t wanted) {
    if (wanted >= 1) result.push_back(fit_trips(problem, axis, wanted));
  };
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
  for (const StructureAxis& axis : structure.axes) {
    candidates.push_back(trip_candidates(*structure.problem, axis, limits));
    // Without this axis it is another structure; only the last grid axis has none to fall back on.
    const bool is_only_grid = axis.role == ir::Role::Grid && structure.assignment.grid.size() == 1;
    if (!is_only_grid && candidates.back().size() > 1 && candidates.back().front() == 1)
      candidates.back().erase(candidates.back().begin());
  }
  std::vector<Schedule> result;
  std::vector<size_t> at(candidates.size(), 0);
  for (bool more = true; more;) {
    Schedule schedule;
    for (size_t a = 0; a < at.size(); ++a) schedule.trips.push_back(candidates[a][at[a]]);
    schedule.cost = estimate(structure, schedule.trips, limits);
    if (limits.scratch_bytes == 0 || schedule.cost.tile_bytes <= limits.scratch_bytes)
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
