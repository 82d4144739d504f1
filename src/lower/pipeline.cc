#include "lower/pipeline.h"

#include <algorithm>
#include <optional>

#include "lower/staged_tile.h"

namespace mirage::lower {
namespace {

using ir::Combine;

constexpr int64_t kSlice = 16, kRowTile = 16;
constexpr int kWarps = 8, kMostWarps = 16, kMostRowTiles = 2, kMostSlices = 2;
/// Registers of 4 bytes for sums that a lane can hold beside everything else; with so few, twice as
/// many warps have room.
constexpr int64_t kMostSums = 128, kFewSums = 32;
constexpr int kMostBlocks = 8;
constexpr int64_t kBoxAlignment = 1024;

class PipelinePlanner {
 public:
  PipelinePlanner(const KernelPlan& plan, const Target& target) : plan_(plan), target_(target) {}

  Result<Pipeline> run() {
    MIRAGE_TRY_VOID(find_axis());
    for (const Step& step : plan_.loop) MIRAGE_TRY_VOID(visit(step));
    MIRAGE_TRY_VOID(check_states());
    MIRAGE_TRY_VOID(deal_out());
    lay_out_stage();
    return std::move(pipeline_);
  }

 private:
  // ---- the loop ----

  Result<void> find_axis() {
    std::optional<uint8_t> found;
    for (size_t i = 0; i < plan_.launch.axes.size(); ++i) {
      const ir::Axis& axis = plan_.launch.axes[i];
      if (axis.role != ir::Role::Loop || axis.trips == 1) continue;
      if (found) return unsupported("loops within loops");
      found = static_cast<uint8_t>(i);
    }
    if (!found) return unsupported("no loop");
    pipeline_.axis = *found;
    if (plan_.compute != ir::DType::F32) return unsupported("arithmetic in double precision");
    for (const Ragged& ragged : plan_.ragged)
      if (std::find(ragged.axes.begin(), ragged.axes.end(), *found) != ragged.axes.end())
        return unsupported("steps of different lengths");
    return {};
  }

  bool is_moving(const Operand& operand) const {
    return std::any_of(operand.moves.begin(), operand.moves.end(),
                       [&](const AxisStride& move) { return move.axis == pipeline_.axis; });
  }

  Result<void> agree(int64_t& known, int64_t extent, std::string_view what) const {
    if (known != 0 && known != extent)
      return unsupported("{} of {} and of {} elements", what, known, extent);
    known = extent;
    return {};
  }

  // ---- operands ----

  /// The stride of the walked class in an operand that carries it, else 0.
  int64_t walked_stride(const Operand& operand) const {
    if (operand.space == Space::Param) {
      for (const AxisStride& move : operand.moves)
        if (move.axis == pipeline_.axis) return plan_.params[operand.index].strides[move.dim];
      return 0;
    }
    const auto at = find_register(operand.index);
    return at == pipeline_.registers.size() ? 0 : walked_[at];
  }

  size_t find_register(size_t scratch) const {
    size_t at = 0;
    while (at < pipeline_.registers.size() && pipeline_.registers[at].scratch != scratch) ++at;
    return at;
  }

  /// The axis of an operand along the walked class.
  std::optional<size_t> walked_axis(const Operand& operand) const {
    const int64_t stride = walked_stride(operand);
    if (stride == 0) return std::nullopt;
    for (size_t i = 0; i < operand.lengths.size(); ++i)
      if (operand.strides[i] == stride && operand.lengths[i].max > 1) return i;
    return std::nullopt;
  }

  /// The one axis of more than one element beside those named.
  Result<std::optional<size_t>> other_axis(const Operand& operand,
                                           std::vector<std::optional<size_t>> named) const {
    std::optional<size_t> found;
    for (size_t i = 0; i < operand.lengths.size(); ++i) {
      if (operand.lengths[i].max == 1 || operand.strides[i] == 0) continue;
      if (std::find(named.begin(), named.end(), std::optional(i)) != named.end()) continue;
      if (found) return unsupported("values with batches of rows");
      found = i;
    }
    return found;
  }

  Result<size_t> stage(const Operand& operand) {
    MIRAGE_TRY(StagedTile tile, stage_tile(plan_, operand));
    const ir::DType element = plan_.params[tile.param].dtype;
    if (!pipeline_.tiles.empty() && element != pipeline_.element)
      return unsupported("staged tiles of two element types");
    pipeline_.element = element;
    auto& tiles = pipeline_.tiles;
    for (size_t i = 0; i < tiles.size(); ++i)
      if (tiles[i].param == tile.param && tiles[i].rows == tile.rows &&
          tiles[i].columns == tile.columns && tiles[i].row_dim == tile.row_dim)
        return i;
    tiles.push_back(std::move(tile));
    return tiles.size() - 1;
  }

  /// An operand of an elementwise step or a reduction.
  Result<Source> source(const Operand& operand) {
    if (operand.space == Space::Scratch) {
      const size_t at = find_register(operand.index);
      if (at < pipeline_.registers.size())
        return Source{Source::From::Register, at, pipeline_.registers[at].spread};
    } else if (is_moving(operand)) {
      return staged_source(operand);
    }
    return before(operand);
  }

  Result<Source> staged_source(const Operand& operand) {
    const std::optional<size_t> walked = walked_axis(operand);
    if (!walked) return unsupported("a tile without the walked class");
    MIRAGE_TRY_VOID(agree(length_, operand.lengths[*walked].max, "steps"));
    MIRAGE_TRY(const std::optional<size_t> row, other_axis(operand, {walked}));
    if (operand.strides[*walked] != 1)
      return unsupported("{}: rows along the loop", plan_.params[operand.index].name);
    if (row) MIRAGE_TRY_VOID(agree(rows_, operand.lengths[*row].max, "rows"));
    MIRAGE_TRY(const size_t tile, stage(unbroadcast(operand)));
    return Source{Source::From::Stage, tile, row ? Spread::Tile : Spread::Columns};
  }

  /// Axes that repeat elements have length 1 for the copy engine.
  static Operand unbroadcast(Operand operand) {
    for (size_t i = 0; i < operand.lengths.size(); ++i)
      if (operand.strides[i] == 0) operand.lengths[i] = {};
    return operand;
  }

  Result<Source> before(const Operand& operand) {
    MIRAGE_TRY(const std::optional<size_t> row, other_axis(operand, {}));
    Before value{operand};
    if (row) {
      MIRAGE_TRY_VOID(agree(rows_, operand.lengths[*row].max, "rows"));
      value.spread = Spread::Rows;
      value.row_axis = *row;
    }
    pipeline_.before.push_back(std::move(value));
    return Source{Source::From::Before, pipeline_.before.size() - 1,
                  pipeline_.before.back().spread};
  }

  size_t add_register(const Operand& out, Spread spread, int64_t walked_stride) {
    pipeline_.registers.push_back({out.index, spread});
    walked_.push_back(walked_stride);
    return pipeline_.registers.size() - 1;
  }

  // ---- steps ----

  Result<void> visit(const Step& step) {
    for (const Operand& out : step.out)
      if (out.space != Space::Scratch) return unsupported("a loop that writes its results");
    switch (step.kind) {
      case StepKind::MatMul:
        return matmul(step);
      case StepKind::Map:
      case StepKind::Copy:
        return map(step);
      case StepKind::Reduce:
        return reduce(step);
      case StepKind::Running:
        return running(step);
      default:
        return unsupported("a {} step in the loop", name_of(step.kind));
    }
  }

  /// The state a step adds to: its register, made at the first step that does.
  Result<size_t> state(const Operand& out, Spread spread, Combine combine) {
    size_t at = find_register(out.index);
    if (at == pipeline_.registers.size()) at = add_register(out, spread, 0);
    Register& entry = pipeline_.registers[at];
    const bool is_new = entry.combine == Combine::None;
    if (entry.spread != spread || (!is_new && entry.combine != combine))
      return unsupported("a sum that is used in two ways");
    entry.is_state = true;
    entry.combine = combine;
    return at;
  }

  Result<void> matmul(const Step& step) {
    const size_t rank = step.out[0].lengths.size(), m = rank - 2, n = rank - 1;
    for (size_t i = 0; i < m; ++i)
      if (step.lengths[i].max != 1) return unsupported("products in batches");
    const Operand &left = step.in[0], &right = step.in[1];
    if (right.space != Space::Param || !is_moving(right))
      return unsupported("a right operand that is not a tile of an input");
    const int64_t walked = walked_stride(right);
    MIRAGE_TRY(const size_t tile, stage(right));
    LoopStep planned;
    // A side of one element has no stride of its own: the other side's decides.
    const bool is_k_unit = right.strides[m] == 1 && right.lengths[m].max > 1;
    planned.right_rows_are_k = !is_k_unit;
    MIRAGE_TRY_VOID(agree(rows_, step.lengths[m].max, "rows"));
    const Source from_stage{Source::From::Stage, tile, Spread::Tile};
    if (right.strides[m] == walked && right.lengths[m].max > 1) {
      MIRAGE_TRY_VOID(agree(length_, right.lengths[m].max, "steps"));
      if (!step.accumulate)
        return unsupported("a product over the walked class that is not summed");
      const int64_t columns = step.lengths[n].max;
      if (columns % 8 != 0) return unsupported("products of {} columns", columns);
      MIRAGE_TRY(const Source a, source(left));
      if (a.spread != Spread::Tile && a.spread != Spread::Columns)
        return unsupported("a left operand without the walked class");
      MIRAGE_TRY(const size_t sums, state(step.out[0], Spread::Sums, Combine::Sum));
      pipeline_.registers[sums].columns = columns;
      planned.in = {a, from_stage};
      planned.out = {sums};
    } else {
      MIRAGE_TRY_VOID(agree(length_, right.lengths[n].max, "steps"));
      if (step.accumulate) return unsupported("a summed product along the walked class");
      MIRAGE_TRY(const Source a, left_before(left, step.lengths[rank].max));
      const int64_t stride = step.out[0].strides[n];
      planned.in = {a, from_stage};
      planned.out = {add_register(step.out[0], Spread::Tile, stride)};
    }
    pipeline_.steps.push_back(std::move(planned));
    return {};
  }

  /// A left operand that is the same for all steps.
  Result<Source> left_before(const Operand& operand, int64_t depth) {
    const size_t rank = operand.lengths.size();
    const bool is_in_loop = operand.space == Space::Param
                                ? is_moving(operand)
                                : find_register(operand.index) < pipeline_.registers.size();
    if (is_in_loop) return unsupported("a left operand that changes with the loop");
    if (depth % kSlice != 0) return unsupported("products over {} elements", depth);
    pipeline_.before.push_back({operand, Spread::Tile, depth, rank - 2, rank - 1});
    return Source{Source::From::Before, pipeline_.before.size() - 1, Spread::Tile};
  }

  static Spread join(Spread a, Spread b) {
    if (a == b || b == Spread::Scalar) return a;
    if (a == Spread::Scalar) return b;
    return Spread::Tile;
  }

  Result<void> map(const Step& step) {
    const Operand& out = step.out[0];
    if (std::any_of(step.in.begin(), step.in.end(), [&](const Operand& in) {
          return in.space == Space::Scratch && in.index == out.index;
        }))
      return rescale(step);
    LoopStep planned;
    Spread spread = Spread::Scalar;
    int64_t walked = 0;
    for (const Operand& in : step.in) {
      MIRAGE_TRY(const Source from, source(in));
      if (from.spread == Spread::Sums) return unsupported("sums that are read in the loop");
      if (is_part(from)) return unsupported("a sum that is read before it is whole");
      spread = join(spread, from.spread);
      if (const auto axis = walked_axis(in)) walked = out.strides[*axis];
      planned.in.push_back(from);
    }
    planned.out = {add_register(out, spread, walked)};
    pipeline_.steps.push_back(std::move(planned));
    return {};
  }

  bool is_part(const Source& source) const {
    return source.from == Source::From::Register && pipeline_.registers[source.index].is_state &&
           pipeline_.registers[source.index].combine != Combine::None;
  }

  /// state = state * factor: what running sums do when the maximum grows.
  Result<void> rescale(const Step& step) {
    const Operand& out = step.out[0];
    const bool is_product = step.in.size() == 2 && step.body && step.body->ops.size() == 1 &&
                            step.body->ops[0].kind == ir::OpKind::Mul &&
                            step.in[0].index == out.index && step.in[0].space == Space::Scratch;
    if (!is_product) return unsupported("a state that changes by more than a factor");
    MIRAGE_TRY(const Source factor, source(step.in[1]));
    if (factor.from != Source::From::Register || factor.spread != Spread::Rows)
      return unsupported("a factor of sums that is not a row's");
    size_t at = find_register(out.index);
    if (at == pipeline_.registers.size()) {
      // Its kind shows at the step that adds to it.
      const Step* const adds = adding_step(out.index);
      if (!adds) return unsupported("a state that nothing is added to");
      at = add_register(out, adds->kind == StepKind::MatMul ? Spread::Sums : Spread::Rows, 0);
    }
    LoopStep planned;
    planned.in = {Source{Source::From::Register, at, pipeline_.registers[at].spread}, factor};
    planned.out = {at};
    planned.is_rescale = true;
    pipeline_.steps.push_back(std::move(planned));
    return {};
  }

  const Step* adding_step(size_t scratch) const {
    for (const Step& step : plan_.loop)
      if (step.accumulate && step.out[0].space == Space::Scratch && step.out[0].index == scratch)
        return &step;
    return nullptr;
  }

  /// Over the other class of a staged tile: a value for each of the step's elements.
  Result<void> reduce_across(const Step& step) {
    const Operand& in = step.in[0];
    const size_t axis = static_cast<size_t>(step.axis);
    if (step.in.size() != 1 || in.space != Space::Param || in.strides[axis] != 1 ||
        step.combine != Combine::Sum || in.lengths[axis].max % kSlice != 0 || step.accumulate)
      return unsupported("a reduction over another class than the loop's");
    MIRAGE_TRY_VOID(agree(length_, in.lengths[*walked_axis(in)].max, "steps"));
    MIRAGE_TRY(const size_t tile, stage(unbroadcast(in)));
    if (pipeline_.tiles[tile].columns != in.lengths[axis].max)
      return unsupported("a reduction over three classes");
    LoopStep planned;
    planned.in = {Source{Source::From::Stage, tile, Spread::Tile}};
    planned.depth = in.lengths[axis].max;
    const size_t walked = *walked_axis(in);
    planned.out = {add_register(step.out[0], Spread::Columns, step.out[0].strides[walked])};
    pipeline_.steps.push_back(std::move(planned));
    return {};
  }

  Result<void> reduce(const Step& step) {
    if (const auto walked = walked_axis(step.in[0]);
        walked && static_cast<int64_t>(*walked) != step.axis)
      return reduce_across(step);
    LoopStep planned;
    bool has_walked = false;
    for (const Operand& in : step.in) {
      const auto axis = walked_axis(in);
      if (axis && static_cast<int64_t>(*axis) != step.axis)
        return unsupported("a reduction over another class than the loop's");
      has_walked |= axis.has_value();
      MIRAGE_TRY(const Source from, source(in));
      if (from.spread == Spread::Sums || is_part(from))
        return unsupported("a sum that is read before it is whole");
      planned.in.push_back(from);
    }
    if (!has_walked) return unsupported("a reduction over another class than the loop's");
    if (step.accumulate) {
      if (step.combine != Combine::Sum && step.combine != Combine::Max)
        return unsupported("a mean of each step");
      MIRAGE_TRY(const size_t rows, state(step.out[0], Spread::Rows, step.combine));
      planned.out = {rows};
    } else {
      if (step.combine != Combine::Max || !feeds_running(step.out[0].index))
        return unsupported("a reduction of each step alone");
      planned.out = {add_register(step.out[0], Spread::Rows, 0)};
    }
    pipeline_.steps.push_back(std::move(planned));
    return {};
  }

  bool feeds_running(size_t scratch) const {
    for (const Step& step : plan_.loop)
      for (const Operand& in : step.in)
        if (in.space == Space::Scratch && in.index == scratch && step.kind != StepKind::Running)
          return false;
    return true;
  }

  Result<void> running(const Step& step) {
    LoopStep planned;
    MIRAGE_TRY(const Source part, source(step.in[0]));
    if (part.from != Source::From::Register || part.spread != Spread::Rows)
      return unsupported("a running maximum of something else than rows");
    planned.in = {part};
    for (const Operand& out : step.out) {
      planned.out.push_back(add_register(out, Spread::Rows, 0));
      pipeline_.registers.back().is_state = true;
    }
    pipeline_.steps.push_back(std::move(planned));
    return {};
  }

  // ---- the whole ----

  Result<void> check_states() {
    if (length_ == 0) return unsupported("nothing walks along the loop");
    const auto reads = [](const Step& step, size_t scratch) {
      return std::any_of(step.in.begin(), step.in.end(), [&](const Operand& in) {
        return in.space == Space::Scratch && in.index == scratch;
      });
    };
    for (Register& entry : pipeline_.registers) {
      for (const Step& step : plan_.epilogue) entry.is_read_after |= reads(step, entry.scratch);
      if (entry.is_read_after && !entry.is_state)
        return unsupported("a value of the last step that is read after the loop");
      for (const Step& step : plan_.prologue)
        if (reads(step, entry.scratch)) return unsupported("a state that begins with a value");
    }
    return {};
  }

  Result<void> deal_out() {
    const int64_t tiles = (std::max<int64_t>(rows_, 1) + kRowTile - 1) / kRowTile;
    pipeline_.rows = std::max<int64_t>(rows_, 1);
    if (length_ % kSlice != 0) return unsupported("steps of {} elements", length_);
    deal_out_blocks();
    int64_t sums = 0;  // registers a row tile
    bool has_tile_products = false;
    for (const Register& entry : pipeline_.registers) sums += entry.columns / 2;
    for (size_t i = 0; i < pipeline_.steps.size(); ++i)
      has_tile_products |= plan_.loop[i].kind == StepKind::MatMul && !plan_.loop[i].accumulate;
    // Chains of products wait for each other: there more warps help more than fewer loads.
    const bool wants_warps = has_tile_products && sums <= kFewSums && pipeline_.blocks == 1;
    const int most_warps = wants_warps ? kMostWarps : kWarps;
    int64_t row_tiles = has_tile_products ? 1 : std::min<int64_t>(tiles, kMostRowTiles);
    if ((tiles + row_tiles - 1) / row_tiles > most_warps) row_tiles = kMostRowTiles;
    if (sums * row_tiles > kMostSums) row_tiles = 1;
    if (sums * row_tiles > kMostSums) return unsupported("more sums than registers");
    const int64_t row_warps = (tiles + row_tiles - 1) / row_tiles;
    if (row_warps > most_warps) return unsupported("{} rows in a block", rows_);
    pipeline_.row_tiles = static_cast<int>(row_tiles);
    pipeline_.row_warps = static_cast<int>(row_warps);
    const int64_t slices = length_ / kSlice;
    int64_t warps = 1, width = 1;
    while (2 * warps * row_warps <= most_warps && slices % (2 * warps) == 0) warps *= 2;
    // Work of a row for each slice (its maximum) is shared by wide slices.
    const int64_t most = has_tile_products ? kMostSlices : 1;
    while (2 * width <= most && slices / warps % (2 * width) == 0) width *= 2;
    pipeline_.slice_warps = static_cast<int>(warps);
    pipeline_.slices = static_cast<int>(width);
    pipeline_.turns = static_cast<int>(slices / warps / width);
    return {};
  }

  /// A grid that leaves multiprocessors idle has its loops shared by several blocks.
  void deal_out_blocks() {
    const int64_t steps = plan_.loop_steps();
    int blocks = 1;
    while (2 * blocks <= kMostBlocks && plan_.items() * 2 * blocks <= target_.units &&
           steps % (2 * blocks) == 0 && steps / (2 * blocks) >= 2)
      blocks *= 2;
    pipeline_.blocks = blocks;
  }

  void lay_out_stage() {
    int64_t at = 0;
    for (StagedTile& tile : pipeline_.tiles) {
      tile.offset = at;
      at += tile.boxes() * tile.box_bytes;
      at = (at + kBoxAlignment - 1) / kBoxAlignment * kBoxAlignment;
    }
    pipeline_.stage_bytes = at;
    // All parts side by side; a row more for what a whole block has.
    int64_t most = 1;
    for (const Register& entry : pipeline_.registers) most = std::max(most, entry.columns + 4);
    const int64_t bytes = (pipeline_.slice_warps + 1) * pipeline_.rows * most * 4;
    pipeline_.merge_bytes = (bytes + kBoxAlignment - 1) / kBoxAlignment * kBoxAlignment;
  }

  const KernelPlan& plan_;
  const Target& target_;
  Pipeline pipeline_;
  std::vector<int64_t> walked_;  // by register: stride of the walked class in its scratch buffer
  int64_t length_ = 0, rows_ = 0;
};

}  // namespace

Result<Pipeline> plan_pipeline(const KernelPlan& plan, const Target& target) {
  if (!target.has_copy_engine) return unsupported("target {} has no copy engine", target.name);
  return PipelinePlanner(plan, target).run();
}

Result<void> fit_stages(Pipeline& pipeline, const KernelPlan& plan, const Target& target) {
  // Aligning the ring, barriers and partial results of reductions take some as well.
  constexpr int64_t kReserved = 8 << 10, kMostStages = 32;
  // Clusters leave multiprocessors out unless two of their blocks fit one.
  const int64_t share = pipeline.blocks > 1 ? 2 : 1;
  const int64_t room = target.scratch_bytes / share - kReserved - plan.scratch_bytes;
  const int64_t wanted = std::min(plan.loop_steps() / pipeline.blocks, kMostStages);
  const int64_t stages = std::min(wanted, room / pipeline.stage_bytes);
  if (stages < 2 || pipeline.merge_bytes > room)
    return fail(Code::LimitExceeded, "stages of {} bytes in {} bytes of shared memory",
                pipeline.stage_bytes, room);
  pipeline.stages = static_cast<int>(stages);
  return {};
}

}  // namespace mirage::lower
