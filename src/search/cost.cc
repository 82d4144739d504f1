#include "search/cost.h"

#include <algorithm>
#include <cmath>

#include "search/costly.h"
#include "search/phases.h"
#include "search/row_rules.h"

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

/// Whether a loop is of the kind that `streaming` describes: its values stay in registers.
class StreamingRules {
 public:
  StreamingRules(const Structure& structure, const std::vector<int64_t>& trips,
                 const Limits& limits)
      : structure_(structure),
        problem_(*structure.problem),
        trips_(trips),
        streaming_(limits.streaming) {}

  bool hold() const {
    if (!streaming_ || structure_.axes.back().role != ir::Role::Loop || trips_.back() == 1)
      return false;
    for (ir::ValueId input : problem_.program.inputs)
      if (ir::bytes_of(problem_.program.type(input).dtype) != 2) return false;
    const std::vector<Step>& steps = structure_.plan.steps;
    return loop_holds() && std::all_of(steps.begin(), steps.end(),
                                       [&](const Step& step) { return step_holds(step); });
  }

 private:
  bool loop_holds() const {
    for (ClassId id : structure_.axes.back().classes) {
      const int64_t extent = problem_.extent_of(id), step = extent / trips_.back();
      if (extent % trips_.back() != 0 || step % streaming_->slice != 0 ||
          step > streaming_->most_step)
        return false;
    }
    return true;
  }

  bool is_walked(ClassId id) const {
    return id != kNoClass && contains_class(structure_.axes.back().classes, id);
  }

  bool step_holds(const Step& step) const {
    if (!is_in_loop(step.state)) return true;
    const std::vector<Step>& steps = structure_.plan.steps;
    // What is not whole yet can only be added up.
    const bool from_parts = std::any_of(step.args.begin(), step.args.end(),
                                        [&](uint32_t arg) { return is_partial(steps[arg].state); });
    if (from_parts && step.kind != OpKind::Transpose) return false;
    return step.kind != OpKind::MatMul || product_holds(step);
  }

  bool product_holds(const Step& step) const {
    const size_t rank = step.dims.size();
    for (size_t i = 0; i + 2 < rank; ++i)
      if (tile_of(step.dims[i]) != 1) return false;
    const ClassId columns = step.dims[rank - 1];
    if (is_partial(step.state))
      return is_from_input(step.args[1]) && tile_of(columns) % streaming_->columns == 0;
    return is_walked(columns) && is_from_input(step.args[1]);
  }

  bool is_from_input(uint32_t at) const {
    const Step& step = structure_.plan.steps[at];
    return step.kind == OpKind::Load ||
           (step.kind == OpKind::Transpose && is_from_input(step.args[0]));
  }

  int64_t tile_of(ClassId id) const {
    if (id == kNoClass) return 1;
    int64_t tile = problem_.extent_of(id);
    for (size_t a = 0; a < structure_.axes.size(); ++a)
      if (contains_class(structure_.axes[a].classes, id)) tile = (tile + trips_[a] - 1) / trips_[a];
    return tile;
  }

  const Structure& structure_;
  const Problem& problem_;
  const std::vector<int64_t>& trips_;
  const std::optional<Streaming>& streaming_;
};

class Estimator {
 public:
  Estimator(const Structure& structure, const std::vector<int64_t>& trips, const Limits& limits)
      : structure_(structure),
        problem_(*structure.problem),
        limits_(limits),
        is_streamed_(StreamingRules(structure, trips, limits).hold()),
        is_in_registers_(limits.rows && rows_fit_registers(structure, *limits.rows)),
        rates_(is_in_registers_ ? limits.rows->rates
               : is_streamed_   ? limits.streaming->rates
                                : limits.rates),
        on_the_way_(on_the_way(structure.plan)) {
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
    if (limits_.holds_tiles) cost.tile_bytes += work.loaded / steps_;
    // Values are written and read once; where a step outgrows L2, through memory.
    const double core_memory = limits_.memory_bytes_per_second / cores;
    const double value_rate = cost.tile_bytes <= limits_.l1_bytes ? 2 * rates_.loads
                              : cost.tile_bytes <= limits_.l2_bytes
                                  ? rates_.loads
                                  : std::min(rates_.loads, core_memory);
    const double fixed = rates_.block_seconds + work.operators * rates_.step_seconds;
    const double loads = work.loaded / rates_.loads;
    const double split = is_streamed_ ? split_of() : 1;
    const double block = is_streamed_
                             ? fixed + std::max(work.compute, loads) / split +
                                   (split > 1 ? limits_.streaming->split_seconds : 0)
                             : fixed + loads + work.compute + 2 * work.computed / value_rate;
    // Of a streamed loop only what outlives it is in scratch memory, and the stages.
    if (is_streamed_)
      cost.tile_bytes = work.persistent + limits_.streaming->least_stages * work.loaded / steps_;
    if (is_streamed_ && split > 1) cost.tile_bytes *= 2;  // two such blocks share a core
    const double running = std::ceil(blocks_ * split / cores) * block;
    const double memory = (work.unique + stored) / limits_.memory_bytes_per_second;
    // Reading ahead hides most of the shorter of the two.
    cost.seconds = std::max(running, memory) + kExposed * std::min(running, memory);
    cost.lower_bound_seconds = std::max(work.whole / cores, memory);
    if (is_in_registers_) {
      // Rows are dealt out over the cores whatever the grid is, and loads overlap everything.
      cost.tile_bytes = 0;
      cost.seconds = rates_.block_seconds + cost.lower_bound_seconds;
    }
    return cost;
  }

 private:
  /// Cores that share a block's loop: what lowering will choose.
  double split_of() const {
    double split = 1;
    while (2 * split <= limits_.streaming->most_split && blocks_ * 2 * split <= limits_.cores &&
           std::fmod(steps_, 2 * split) == 0 && steps_ / (2 * split) >= 2)
      split *= 2;
    return split;
  }

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
    if (!is_streamed_ || !on_the_way_[static_cast<size_t>(&step - structure_.plan.steps.data())])
      (in_loop ? work.in_step : work.persistent) += count * kElementBytes;
    work.computed += count * kElementBytes * times;
    const ir::OpDef& row = def(step.kind);
    double per_element = 1, whole_per_element = 1, rate = rates_.map_ops;
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
        rate = rates_.matmul_flops;
      }
    } else if (is_costly(step.kind)) {
      rate = rates_.costly_ops;
    }
    // A micro-kernel half filled takes as long as a full one.
    const double filled = step.kind == OpKind::MatMul ? fill(step, in_loop) : 1;
    work.flops += count * per_element * times;
    work.compute += count * per_element * times / (rate * filled);
    work.whole += elements(step.dims, whole_) * whole_per_element / rate;
  }

  /// By step: whether its one user computes it in registers, as lowering fuses them.
  static std::vector<bool> on_the_way(const Plan& plan) {
    const std::vector<Step>& steps = plan.steps;
    std::vector<int> uses(steps.size(), 0);
    std::vector<bool> fits(steps.size(), false);
    for (const Step& user : steps) {
      const Form form = def(user.kind).form;
      for (const uint32_t arg : user.args) {
        ++uses[arg];
        fits[arg] = def(steps[arg].kind).form == Form::Map &&
                    (form == Form::Reduce || (form == Form::Map && user.dims == steps[arg].dims)) &&
                    is_in_loop(user.state) == is_in_loop(steps[arg].state);
      }
    }
    for (const uint32_t output : plan.outputs) ++uses[output];
    for (size_t i = 0; i < steps.size(); ++i) fits[i] = fits[i] && uses[i] == 1;
    return fits;
  }

  double fill(const Step& step, bool in_loop) const {
    const auto& tile = in_loop ? in_loop_ : after_loop_;
    const auto part = [&](ClassId id, double unit) {
      const double extent = id == kNoClass ? 1 : tile[id];
      return extent / (unit * std::ceil(extent / unit));
    };
    const size_t rank = step.dims.size();
    return part(step.dims[rank - 1], limits_.micro_columns) *
           std::sqrt(part(step.dims[rank - 2], limits_.micro_rows));
  }

  static constexpr double kExposed = 0.25;
  const Structure& structure_;
  const Problem& problem_;
  const Limits& limits_;
  const bool is_streamed_, is_in_registers_;
  const Rates& rates_;
  const std::vector<bool> on_the_way_;
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
  if (limits.streaming)
    for (int64_t tile : {8, 16, 24, 32, 48, 64, 96, 128, 192, 256}) consider(axis.extent / tile);
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
  const bool is_in_registers = limits.rows && rows_fit_registers(structure, *limits.rows);
  for (const StructureAxis& axis : structure.axes) {
    if (is_in_registers) {  // all grids are the same kernel
      candidates.push_back({fit_trips(*structure.problem, axis, axis.extent)});
      continue;
    }
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
