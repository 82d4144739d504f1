#include "codegen/cuda/pipeline.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/kernel.h"

namespace mirage::codegen {
namespace {

using lower::KernelPlan;
using lower::LoopStep;
using lower::Operand;
using lower::Pipeline;
using lower::Source;
using lower::Space;
using lower::Spread;
using lower::StagedTile;
using lower::Step;
using lower::StepKind;

class PipelineText {
 public:
  PipelineText(Writer& out, const KernelPlan& plan, const Dialect& dialect)
      : out_(out), plan_(plan), pipeline_(*plan.pipeline), dialect_(dialect) {}

  void emit() {
    emit_grid(out_, plan_);
    ring();
    for (const Step& step : plan_.prologue)
      if (!is_register(step.out[0])) emit_step(out_, plan_, step, dialect_);
    before();
    states();
    out_.open("if (place.part >= 0) {{");
    loop();
    out_.close("} else {");
    out_.raw("  ring.feed(ask);");
    out_.raw("}");
    merge();
    emit_steps(out_, plan_, plan_.epilogue, dialect_);
  }

 private:
  bool is_register(const Operand& operand) const {
    return operand.space == Space::Scratch &&
           std::any_of(pipeline_.registers.begin(), pipeline_.registers.end(),
                       [&](const auto& entry) { return entry.scratch == operand.index; });
  }

  std::string element() const { return std::string(type_name(pipeline_.element)); }
  static std::string reg(size_t index) { return fmt::format("r{}", index); }
  std::string tiles() const { return fmt::format("{}", pipeline_.row_tiles); }
  std::string slices() const { return fmt::format("{}", pipeline_.slices); }

  // ---- before the loop ----

  std::string coordinate(const StagedTile::Dim& dim, int64_t start) const {
    std::string text = start ? fmt::format("{}", start) : "";
    for (const lower::AxisStride& move : dim.moves) {
      const std::string name =
          move.axis == pipeline_.axis ? "first_step + step" : axis_name(plan_, move.axis);
      text +=
          fmt::format("{}static_cast<int>({}) * {}", text.empty() ? "" : " + ", name, move.stride);
    }
    return text.empty() ? "0" : text;
  }

  int64_t steps() const { return plan_.loop_steps() / pipeline_.blocks; }

  void ring() {
    if (pipeline_.blocks > 1)
      out_.line("const int first_step = cluster_rank() * {};", steps());
    else
      out_.line("constexpr int first_step = 0;");
    int64_t bytes = 0;
    for (const StagedTile& tile : pipeline_.tiles) bytes += tile.bytes();
    out_.open("const auto ask = [&](uint32_t stage, uint32_t barrier, int step) {{");
    out_.line("barrier_expect(barrier, {});", bytes);
    for (size_t i = 0; i < pipeline_.tiles.size(); ++i) {
      const StagedTile& tile = pipeline_.tiles[i];
      for (int64_t box = 0; box < tile.boxes(); ++box) {
        std::vector<std::string> at;
        for (size_t d = 0; d < tile.dims.size(); ++d)
          at.push_back(coordinate(tile.dims[d], d == 0 ? box * tile.width : 0));
        out_.line("copy_box(stage + {}, m{}, barrier, {});", tile.offset + box * tile.box_bytes, i,
                  fmt::join(at, ", "));
      }
    }
    out_.close("};");
    out_.line("Ring<{}, {}, {}> ring(memory, {}, ask);", pipeline_.stages, pipeline_.stage_bytes,
              pipeline_.readers(), steps());
  }

  void before() {
    out_.line("const WarpPlace place{{warp() < {} ? warp() % {} : -1, warp() / {} * {}}};",
              pipeline_.readers(), pipeline_.slice_warps, pipeline_.slice_warps,
              16 * pipeline_.row_tiles);
    for (size_t i = 0; i < pipeline_.before.size(); ++i) {
      const lower::Before& value = pipeline_.before[i];
      const std::string at = address(plan_, value.operand);
      if (value.spread == Spread::Tile)
        out_.line(
            "const auto before{} = load_left<{}, {}, {}>(Tile{{as_const({}), {}, {}}}, "
            "place.first, "
            "{});",
            i, element(), tiles(), value.depth / 16, at, value.operand.strides[value.row_axis],
            value.operand.strides[value.depth_axis], pipeline_.rows);
      else if (value.spread == Spread::Rows)
        out_.line("const auto before{} = load_rows<{}>(as_const({}), {}, place.first, {});", i,
                  tiles(), at, value.operand.strides[value.row_axis], pipeline_.rows);
      else
        out_.line("const float before{} = widen<float>(*({}));", i, at);
    }
  }

  void states() {
    for (size_t i = 0; i < pipeline_.registers.size(); ++i) {
      const lower::Register& entry = pipeline_.registers[i];
      if (!entry.is_state) continue;
      // Only a raw maximum of a Running step needs a start among states without a combination.
      const bool is_max = entry.combine == ir::Combine::Max || is_raw_maximum(i);
      const std::string start = is_max ? "-kInfinity<float>" : "0.0f";
      if (entry.spread == Spread::Sums)
        out_.line("auto {} = filled_accumulator<{}, {}>({});", reg(i), tiles(), entry.columns / 8,
                  start);
      else
        out_.line("auto {} = filled_rows<{}>({});", reg(i), tiles(), start);
    }
  }

  bool is_raw_maximum(size_t index) const {
    for (size_t i = 0; i < plan_.loop.size(); ++i)
      if (plan_.loop[i].kind == StepKind::Running && pipeline_.steps[i].out[2] == index)
        return true;
    return false;
  }

  // ---- the loop ----

  bool has_running() const {
    return std::any_of(plan_.loop.begin(), plan_.loop.end(),
                       [](const Step& step) { return step.kind == StepKind::Running; });
  }

  void loop() {
    if (has_running()) out_.line("bool is_first = true;");
    out_.open("for (int step = 0; step < {}; ++step) {{", steps());
    out_.line("const uint32_t stage = ring.wait();");
    for (size_t i = 0; i < pipeline_.tiles.size(); ++i) {
      const StagedTile& tile = pipeline_.tiles[i];
      out_.line("const Staged<{}, {}, {}> t{}{{stage + {}}};", element(), tile.width,
                tile.box_bytes, i, tile.offset);
    }
    out_.raw("#pragma unroll");
    out_.open("for (int turn = 0; turn < {}; ++turn) {{", pipeline_.turns);
    out_.line("const int at = (turn * {} + place.part) * {};", pipeline_.slice_warps,
              16 * pipeline_.slices);
    loads();
    for (size_t i = 0; i < plan_.loop.size(); ++i) loop_step(plan_.loop[i], pipeline_.steps[i]);
    if (has_running()) out_.line("is_first = false;");
    out_.close();
    out_.line("ring.release();");
    out_.close();
  }

  /// Staged values that are not right operands, each loaded once.
  void loads() {
    const size_t count = pipeline_.tiles.size();
    std::vector<bool> as_left(count), as_tile(count), as_columns(count);
    for (size_t i = 0; i < plan_.loop.size(); ++i) {
      const bool is_product = plan_.loop[i].kind == StepKind::MatMul;
      for (size_t j = 0; j < pipeline_.steps[i].in.size(); ++j) {
        const Source& source = pipeline_.steps[i].in[j];
        const bool is_direct = (is_product && j == 1) || pipeline_.steps[i].depth > 0;
        if (source.from != Source::From::Stage || is_direct) continue;
        if (is_product) {
          as_left[source.index] = true;
        } else if (source.spread == Spread::Columns) {
          as_columns[source.index] = true;
        } else {
          as_left[source.index] = as_tile[source.index] = true;
        }
      }
    }
    for (size_t i = 0; i < count; ++i) {
      if (as_left[i])
        out_.line("const auto left{} = load_left<{}, {}>(t{}, place.first, {}, at);", i, tiles(),
                  slices(), i, pipeline_.tiles[i].rows);
      if (as_tile[i]) out_.line("const auto tile{} = as_fragments(left{});", i, i);
      if (as_columns[i])
        out_.line("const auto columns{} = load_columns<{}>(t{}, at);", i, slices(), i);
    }
  }

  std::string text(const Source& source) const {
    switch (source.from) {
      case Source::From::Stage:
        return fmt::format("{}{}", source.spread == Spread::Columns ? "columns" : "tile",
                           source.index);
      case Source::From::Register:
        return reg(source.index);
      case Source::From::Before:
        return fmt::format("before{}", source.index);
    }
    return {};
  }

  std::vector<std::string> texts(const LoopStep& planned) const {
    std::vector<std::string> all;
    for (const Source& source : planned.in) all.push_back(text(source));
    return all;
  }

  void loop_step(const Step& step, const LoopStep& planned) {
    if (!step.label.empty()) out_.line("// {}", step.label);
    switch (step.kind) {
      case StepKind::MatMul:
        return product(step, planned);
      case StepKind::Reduce:
        return reduction(step, planned);
      case StepKind::Running:
        out_.line("running_rows({}, {}, {}, {}, is_first, {});", text(planned.in[0]),
                  reg(planned.out[0]), reg(planned.out[1]), reg(planned.out[2]), step.is_gauge);
        return;
      default:
        return planned.is_rescale ? rescale(step, planned) : map(step, planned);
    }
  }

  std::string left(const Source& source) const {
    if (source.from == Source::From::Stage) return fmt::format("left{}", source.index);
    if (source.spread == Spread::Columns)
      return fmt::format("as_left<{}, {}>({})", element(), tiles(), text(source));
    return fmt::format("as_left<{}>({})", element(), text(source));
  }

  void product(const Step& step, const LoopStep& planned) {
    const std::string_view rows = planned.right_rows_are_k ? "Rows::K" : "Rows::N";
    const std::string right = fmt::format("t{}", planned.in[1].index);
    if (step.accumulate)
      out_.line("multiply_add<{}>({}, {}, {}, at, 0);", rows, reg(planned.out[0]),
                left(planned.in[0]), right);
    else
      out_.line("const auto {} = multiply<{}, {}>({}, {}, at);", reg(planned.out[0]), rows,
                slices(), text(planned.in[0]), right);
  }

  void map(const Step& step, const LoopStep& planned) { assign("const auto ", step, planned); }

  void assign(std::string_view declaration, const Step& step, const LoopStep& planned) {
    const lower::Register& to = pipeline_.registers[planned.out[0]];
    std::string function;
    switch (to.spread) {
      case Spread::Tile:
        function = fmt::format("map_fragments<{}, {}>", tiles(), slices());
        break;
      case Spread::Columns:
        function = fmt::format("map_column_values<{}>", slices());
        break;
      default:
        function = fmt::format("map_row_values<{}>", tiles());
    }
    const std::string head = fmt::format("{}{} = {}(", declaration, reg(planned.out[0]), function);
    emit_call(out_, head, step, texts(planned));
  }

  void rescale(const Step& step, const LoopStep& planned) {
    const size_t state = planned.out[0];
    out_.open("if (has_factor({})) {{", text(planned.in[1]));
    if (pipeline_.registers[state].spread == Spread::Sums)
      emit_call(out_, fmt::format("map_accumulator({}, ", reg(state)), step, {text(planned.in[1])});
    else
      assign("", step, planned);
    out_.close();
  }

  void reduction(const Step& step, const LoopStep& planned) {
    if (planned.depth > 0) {
      emit_call(out_,
                fmt::format("const auto {} = reduce_staged<ChainSum, {}, {}>(t{}, at, ",
                            reg(planned.out[0]), slices(), planned.depth, planned.in[0].index),
                step, {});
      return;
    }
    const std::string_view op = step.combine == ir::Combine::Max ? "ChainMax" : "ChainSum";
    const std::string to = reg(planned.out[0]);
    if (!step.accumulate) out_.line("auto {} = filled_rows<{}>(-kInfinity<float>);", to, tiles());
    emit_call(out_, fmt::format("reduce_fragments<{}, {}>({}, ", op, slices(), to), step,
              texts(planned));
    if (!step.accumulate) out_.line("combine_lanes<{}>({});", op, to);
  }

  // ---- after the loop ----

  void merge() {
    out_.line("sync();");
    out_.line("float* const pad = reinterpret_cast<float*>(memory);");
    if (pipeline_.slice_warps * pipeline_.blocks > 1)
      for (size_t i = 0; i < plan_.loop.size(); ++i) catch_up(plan_.loop[i], pipeline_.steps[i]);
    for (size_t i = 0; i < pipeline_.registers.size(); ++i)
      if (pipeline_.registers[i].is_read_after) merge_state(i);
    if (pipeline_.blocks > 1) merge_cluster();
  }

  /// The first block of the cluster gets the sums of all and does what is left.
  void merge_cluster() {
    out_.line("cluster_sync();");
    for (const lower::Register& entry : pipeline_.registers)
      if (entry.is_read_after)
        out_.line("merge_blocks<{}, {}>({}, {});", chain(entry), pipeline_.blocks,
                  scratch_name(plan_, entry.scratch), plan_.scratch[entry.scratch].elements);
    out_.line("cluster_sync();");
    out_.line("if (cluster_rank() != 0) return;");
  }

  /// States without a combination are running maxima, equal in all parts by now.
  static std::string_view chain(const lower::Register& entry) {
    return entry.combine == ir::Combine::Sum ? "ChainSum" : "ChainMax";
  }

  /// Sums that were kept relative to a running maximum: first all parts agree on it.
  void catch_up(const Step& step, const LoopStep& planned) {
    if (step.kind == StepKind::Running) {
      out_.line("merge_running<{}, {}>(pad, place, {}, {}, {}, {}, {});", pipeline_.slice_warps,
                pipeline_.blocks, pipeline_.rows, reg(planned.out[0]), reg(planned.out[1]),
                reg(planned.out[2]), step.is_gauge);
    } else if (planned.is_rescale) {
      rescale(step, planned);
    } else if (step.kind == StepKind::Map && is_factor(planned.out[0])) {
      map(step, planned);
    }
  }

  bool is_factor(size_t index) const {
    return std::any_of(pipeline_.steps.begin(), pipeline_.steps.end(), [&](const LoopStep& other) {
      return other.is_rescale && other.in[1].from == Source::From::Register &&
             other.in[1].index == index;
    });
  }

  /// The operand through which the loop wrote a register's scratch buffer.
  const Operand& place_of(size_t scratch) const {
    for (const Step& step : plan_.loop)
      for (const Operand& operand : step.out)
        if (operand.space == Space::Scratch && operand.index == scratch) return operand;
    return plan_.loop[0].out[0];
  }

  void merge_state(size_t index) {
    const lower::Register& entry = pipeline_.registers[index];
    const Operand& to = place_of(entry.scratch);
    const std::string memory = scratch_name(plan_, entry.scratch);
    const size_t rank = to.strides.size();
    if (entry.spread == Spread::Sums) {
      out_.line("merge_accumulator<{}>(pad, place, {}, {}, {}, {}, {});", pipeline_.slice_warps,
                pipeline_.rows, reg(index), memory, to.strides[rank - 2], to.strides[rank - 1]);
      return;
    }
    int64_t stride = 0;
    for (size_t i = 0; i < rank; ++i)
      if (to.lengths[i].max > 1) stride = to.strides[i];
    out_.line("merge_rows<{}, {}>(pad, place, {}, {}, {}, {});", chain(entry),
              pipeline_.slice_warps, pipeline_.rows, reg(index), memory, stride);
  }

  Writer& out_;
  const KernelPlan& plan_;
  const Pipeline& pipeline_;
  const Dialect& dialect_;
};

}  // namespace

void emit_pipeline(Writer& out, const KernelPlan& plan, const Dialect& dialect) {
  PipelineText(out, plan, dialect).emit();
}

std::vector<TensorMap> tensor_maps(const KernelPlan& plan) {
  std::vector<TensorMap> maps;
  for (const StagedTile& tile : plan.pipeline->tiles) {
    const lower::Param& param = plan.params[tile.param];
    const int64_t bytes = ir::bytes_of(param.dtype);
    TensorMap map{param.buffer, param.offset * bytes, param.dtype, {}, {}, {}, 0};
    for (const StagedTile::Dim& dim : tile.dims) {
      map.extents.push_back(param.shape[dim.dim]);
      map.strides.push_back(param.strides[dim.dim] * bytes);
      map.box.push_back(dim.box);
    }
    const int64_t row = tile.width * bytes;
    if (row == 128 || row == 64 || row == 32) map.swizzle_bytes = static_cast<int>(row);
    maps.push_back(std::move(map));
  }
  return maps;
}

}  // namespace mirage::codegen
