#include "lower/rows.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace mirage::lower {
namespace {

constexpr int64_t kVectorBytes = 16;  // of the widest load
constexpr int kWarp = 32, kMostThreads = 1024;
constexpr int64_t kSmallBlock = 128;  // threads where a team is less than two warps
/// Registers of a multiprocessor, of a thread at most, and what a thread needs beside its values.
constexpr int64_t kRegisters = 65536, kMostRegisters = 255, kOtherRegisters = 32;
/// Chunks that a thread asks for at once: of all inputs together, enough bytes in flight where
/// there are rows for all multiprocessors; of each input, a short way through a row where there are
/// not.
constexpr int64_t kChunksOfMany = 8, kChunksOfFew = 2;
/// Bytes of a row that one block reads in about the time that a cluster takes to start.
constexpr int64_t kRowBytesOfBlock = 48 << 10;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t power_above(int64_t value) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(value, 1))));
}

class RowPlanner {
 public:
  RowPlanner(const KernelPlan& plan, const Target& target) : plan_(plan), target_(target) {
    for (const auto* steps : {&plan.prologue, &plan.epilogue})
      for (const Step& step : *steps) steps_.push_back(&step);
  }

  Result<RowPlan> run() {
    if (target_.backend != Backend::Cuda) return unsupported("target {}: no warps", target_.name);
    if (!plan_.loop.empty()) return unsupported("a loop");
    if (plan_.compute != ir::DType::F32) return unsupported("arithmetic in double precision");
    MIRAGE_TRY_VOID(find_axes());
    choose_width();
    for (const Step* step : steps_) MIRAGE_TRY_VOID(visit(*step));
    rows_.combined = std::move(open_);
    MIRAGE_TRY_VOID(deal_out());
    return std::move(rows_);
  }

 private:
  // ---- axes, counted from the last one ----

  static const Length& length_at(const std::vector<Length>& lengths, size_t axis) {
    static const Length kOne;
    return axis < lengths.size() ? lengths[lengths.size() - 1 - axis] : kOne;
  }
  /// 0 where the operand repeats, or has one element.
  static int64_t stride_at(const Operand& operand, size_t axis) {
    if (length_at(operand.lengths, axis).max == 1) return 0;
    return operand.strides[operand.strides.size() - 1 - axis];
  }

  Result<void> find_axes() {
    std::optional<size_t> columns;
    for (const Step* step : steps_) {
      if (step->kind != StepKind::Count) MIRAGE_TRY_VOID(agree(step->lengths));
      if (step->kind != StepKind::Reduce) continue;
      const size_t axis = step->lengths.size() - 1 - static_cast<size_t>(step->axis);
      if (columns && *columns != axis) return unsupported("reductions over two axes");
      columns = axis;
    }
    if (!columns) {
      columns = 0;
      while (*columns + 1 < extents_.size() && extents_[*columns].max == 1) ++*columns;
    }
    rows_.column_axis = *columns;
    rows_.columns = length_of(*columns);
    for (size_t axis = extents_.size(); axis-- > 0;) {
      if (axis == *columns || extents_[axis] == Length{}) continue;
      rows_.row_axes.push_back(axis);
      rows_.rows.push_back(extents_[axis]);
    }
    return {};
  }

  Length length_of(size_t axis) const { return axis < extents_.size() ? extents_[axis] : Length{}; }

  Result<void> agree(const std::vector<Length>& lengths) {
    if (extents_.size() < lengths.size()) extents_.resize(lengths.size());
    for (size_t axis = 0; axis < lengths.size(); ++axis) {
      const Length& length = length_at(lengths, axis);
      if (length == Length{}) continue;
      Length& known = extents_[axis];
      if (known == Length{})
        known = length;
      else if (known != length)
        return unsupported("steps over {} and over {} elements of an axis", known.max, length.max);
    }
    return {};
  }

  // ---- memory ----

  bool has_columns(const Operand& operand) const {
    return stride_at(operand, rows_.column_axis) != 0;
  }

  void choose_width() {
    int64_t bytes = 4;
    for (const Step* step : steps_)
      for (const auto* operands : {&step->in, &step->out})
        for (const Operand& operand : *operands)
          if (operand.space == Space::Param && has_columns(operand))
            bytes = std::min(bytes, ir::bytes_of(operand.dtype));
    rows_.width = std::min(kVectorBytes / bytes, power_above(rows_.columns.max));
  }

  /// Elements that can be read or written at once: the row's first one is aligned to them wherever
  /// the row is, and the columns are a multiple.
  int64_t access(const Operand& operand) const {
    const int64_t bytes = ir::bytes_of(operand.dtype);
    int64_t count = std::min(rows_.width, kVectorBytes / bytes);
    const auto divides = [&](int64_t elements) {
      while (elements % count != 0) count /= 2;
    };
    divides(plan_.params[operand.index].offset + operand.offset);
    for (const AxisStride& move : operand.moves) divides(move.stride);
    for (size_t axis : rows_.row_axes) divides(stride_at(operand, axis));
    divides(rows_.columns.max);
    if (rows_.columns.ragged >= 0)
      divides(plan_.ragged[static_cast<size_t>(rows_.columns.ragged)].extent);
    return count;
  }

  Result<void> check_columns(const Operand& operand) const {
    const int64_t stride = stride_at(operand, rows_.column_axis);
    if (stride != 0 && stride != 1)
      return unsupported("{}: columns {} elements apart", plan_.params[operand.index].name, stride);
    return {};
  }

  // ---- operands ----

  Result<RowSource> source(const Operand& operand) {
    return operand.space == Space::Param ? load(operand) : result(operand);
  }

  Result<RowSource> load(const Operand& operand) {
    if (operand.index >= plan_.first_output)
      return unsupported("{}: a result that is read", plan_.params[operand.index].name);
    MIRAGE_TRY_VOID(check_columns(operand));
    const auto is_same = [&](const RowLoad& known) {
      if (known.operand.index != operand.index || known.operand.offset != operand.offset)
        return false;
      for (size_t axis = 0; axis < extents_.size(); ++axis)
        if (stride_at(known.operand, axis) != stride_at(operand, axis)) return false;
      return true;
    };
    auto& loads = rows_.loads;
    const auto at = std::find_if(loads.begin(), loads.end(), is_same);
    const size_t index = static_cast<size_t>(at - loads.begin());
    if (at == loads.end()) {
      const bool is_tile = has_columns(operand);
      loads.push_back({operand, is_tile, is_tile ? access(operand) : 1});
    }
    return RowSource{true, index, loads[index].is_tile};
  }

  /// What a step before left in registers; the view must be all of it, as it lies.
  Result<RowSource> result(const Operand& operand) const {
    for (size_t i = 0; i < rows_.steps.size(); ++i) {
      const Operand& out = steps_[i]->out[0];
      if (out.space != Space::Scratch || out.index != operand.index) continue;
      bool is_same = out.offset == operand.offset;
      for (size_t axis = 0; axis < extents_.size(); ++axis)
        is_same = is_same && stride_at(out, axis) == stride_at(operand, axis);
      if (!is_same) return unsupported("a value that is read in another order");
      return RowSource{false, i, rows_.steps[i].is_tile};
    }
    return unsupported("a value that no step makes");
  }

  // ---- steps ----

  Result<void> visit(const Step& step) {
    if (step.kind == StepKind::MatMul || step.kind == StepKind::Running)
      return unsupported("a {} step", name_of(step.kind));
    RowStep planned;
    for (const Operand& in : step.in) {
      MIRAGE_TRY(const RowSource from, source(in));
      planned.is_tile |= from.is_tile;
      planned.in.push_back(from);
    }
    if (step.kind == StepKind::Reduce) {
      if (step.accumulate) return unsupported("a sum that is added to");
      if (length_at(step.lengths, rows_.column_axis) != rows_.columns)
        return unsupported("a reduction of single elements");
      planned.is_tile = false;
    }
    planned.combined = needed_now(planned);
    MIRAGE_TRY_VOID(write(step, planned));
    if (step.kind == StepKind::Reduce) open_.push_back(rows_.steps.size());
    rows_.steps.push_back(std::move(planned));
    return {};
  }

  /// Reductions wait until one is used; then all that wait are finished with one barrier.
  std::vector<size_t> needed_now(const RowStep& planned) {
    const bool needs = std::any_of(planned.in.begin(), planned.in.end(), [&](const RowSource& in) {
      return !in.is_load && std::find(open_.begin(), open_.end(), in.index) != open_.end();
    });
    return needs ? std::exchange(open_, {}) : std::vector<size_t>{};
  }

  Result<void> write(const Step& step, RowStep& planned) {
    const Operand& out = step.out[0];
    if (step.out.size() != 1) return unsupported("a step of several results");
    if (out.space == Space::Scratch) {
      for (size_t i = 0; i < rows_.steps.size(); ++i)
        if (steps_[i]->out[0].space == Space::Scratch && steps_[i]->out[0].index == out.index)
          return unsupported("a value that is made in parts");
      return {};
    }
    MIRAGE_TRY_VOID(check_columns(out));
    for (size_t axis : rows_.row_axes)
      if (length_at(out.lengths, axis) != length_of(axis))
        return unsupported("{}: one result of several rows", plan_.params[out.index].name);
    planned.access = has_columns(out) ? access(out) : 1;
    return {};
  }

  // ---- threads ----

  int64_t columns_each(int64_t count) const { return divide_up(rows_.columns.max, count); }

  /// Registers that the values of a chunk need before or after the step that needs most: a step's
  /// result takes the place of what it is the last to read.
  int64_t registers_of_chunk() const {
    const size_t count = rows_.steps.size();
    std::vector<size_t> end_of_load(rows_.loads.size(), 0), end_of_step(count, 0);
    for (size_t i = 0; i < count; ++i)
      for (const RowSource& in : rows_.steps[i].in)
        (in.is_load ? end_of_load : end_of_step)[in.index] = i + 1;
    int64_t most = 0;
    for (size_t i = 0; i <= count; ++i) {
      int64_t live = 0;
      for (size_t j = 0; j < rows_.loads.size(); ++j)
        if (rows_.loads[j].is_tile && end_of_load[j] > i)
          live += divide_up(rows_.width * ir::bytes_of(rows_.loads[j].operand.dtype), 4);
      for (size_t j = 0; j < i; ++j)
        if (rows_.steps[j].is_tile && end_of_step[j] > i) live += rows_.width;
      most = std::max(most, live);
    }
    return most;
  }

  bool fits(int64_t team, int64_t chunks) const {
    const int64_t threads = std::max<int64_t>(team, kWarp);
    const int64_t most = std::min(kMostRegisters, kRegisters / threads) - kOtherRegisters;
    return chunks * std::max<int64_t>(registers_of_chunk(), 1) <= most;
  }

  /// Threads for `chunks` chunks, as near to `wanted` as registers allow.
  std::optional<int> team_for(int64_t chunks, int64_t wanted) const {
    std::optional<int> best;
    for (int team = 1; team <= kMostThreads; team *= 2) {
      if (!fits(team, divide_up(chunks, team))) continue;
      best = team;
      if (team >= wanted) break;
    }
    return best;
  }

  int64_t bytes_of_row() const {
    int64_t bytes = 0;
    for (const RowLoad& load : rows_.loads)
      if (load.is_tile) bytes += rows_.columns.max * ir::bytes_of(load.operand.dtype);
    return bytes;
  }

  Result<void> deal_out() {
    const int64_t rows = plan_.items() * rows_.rows_of_item();
    const int64_t chunks = divide_up(rows_.columns.max, rows_.width);
    const int64_t inputs =
        std::max<int64_t>(1, std::count_if(rows_.loads.begin(), rows_.loads.end(),
                                           [](const RowLoad& load) { return load.is_tile; }));
    const bool is_many = rows >= 4 * int64_t{target_.units};
    const int64_t each = is_many ? std::max<int64_t>(1, kChunksOfMany / inputs) : kChunksOfFew;
    for (int cluster = 1; cluster <= target_.cluster_blocks; cluster *= 2) {
      const bool is_last = 2 * cluster > target_.cluster_blocks;
      const bool is_slow =
          bytes_of_row() > cluster * kRowBytesOfBlock && 2 * cluster * rows <= target_.units;
      const int64_t mine = divide_up(chunks, cluster);
      const int64_t wanted =
          std::max(power_above(divide_up(mine, each)), std::min<int64_t>(8, power_above(mine)));
      const std::optional<int> team = team_for(mine, cluster > 1 ? kMostThreads / 2 : wanted);
      if (!team || (is_slow && !is_last)) continue;
      rows_.cluster = cluster;
      rows_.team = cluster > 1 ? std::max(*team, kWarp) : *team;
      rows_.chunks = divide_up(mine, rows_.team);
      rows_.teams = teams_of_block(rows);
      return {};
    }
    return unsupported("rows of {} elements", rows_.columns.max);
  }

  int teams_of_block(int64_t rows) const {
    if (rows_.team >= 2 * kWarp || rows_.cluster > 1) return 1;
    int64_t threads = kSmallBlock;
    while (threads > kWarp && rows * rows_.team < threads * target_.units) threads /= 2;
    return static_cast<int>(std::max<int64_t>(threads / rows_.team, 1));
  }

  const KernelPlan& plan_;
  const Target& target_;
  std::vector<const Step*> steps_;
  std::vector<Length> extents_;  // from the last axis
  std::vector<size_t> open_;     // reductions that no step has used yet
  RowPlan rows_;
};

}  // namespace

Result<RowPlan> plan_rows(const KernelPlan& plan, const Target& target) {
  return RowPlanner(plan, target).run();
}

}  // namespace mirage::lower
