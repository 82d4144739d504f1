#include "lower/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace mirage::lower {
namespace {

std::string text_of(const Length& length) {
  return length.ragged < 0 ? fmt::format("{}", length.max)
                           : fmt::format("r{}<={}", length.ragged, length.max);
}

std::string text_of(const std::vector<Length>& lengths) {
  std::vector<std::string> parts;
  for (const Length& length : lengths) parts.push_back(text_of(length));
  return fmt::format("[{}]", fmt::join(parts, ","));
}

std::string text_of(const Operand& operand, const KernelPlan& plan) {
  std::string text = operand.space == Space::Param ? plan.params[operand.index].name
                                                   : plan.scratch[operand.index].name;
  if (operand.offset) text += fmt::format(" + {}", operand.offset);
  for (const AxisStride& move : operand.moves)
    text += fmt::format(" + {}*{}", plan.launch.axes[move.axis].name, move.stride);
  return fmt::format(
      "{}:{}{}", text, ir::name_of(operand.dtype),
      operand.strides.empty() ? "" : fmt::format("({})", fmt::join(operand.strides, ",")));
}

std::string body_text(const ir::Graph& body) {
  std::vector<std::string> lines;
  for (const ir::Op& op : body.ops) {
    std::vector<std::string> words;
    for (ir::ValueId operand : op.operands) words.push_back(fmt::format("%{}", operand.index));
    for (double scalar : op.attrs.scalars) words.push_back(fmt::format("{:a}", scalar));
    lines.push_back(fmt::format("%{} = {} {}", op.results[0].index, ir::def(op.kind).name,
                                fmt::join(words, " ")));
  }
  std::vector<std::string> results;
  for (ir::ValueId output : body.outputs) results.push_back(fmt::format("%{}", output.index));
  return fmt::format("{{ {}; return {} }}", fmt::join(lines, "; "), fmt::join(results, ", "));
}

void print_steps(std::string& text, std::string_view title, const std::vector<Step>& steps,
                 const KernelPlan& plan) {
  if (steps.empty()) return;
  text += fmt::format("    {}\n", title);
  for (const Step& step : steps) {
    std::vector<std::string> in, out;
    for (const Operand& operand : step.in) in.push_back(text_of(operand, plan));
    for (const Operand& operand : step.out) out.push_back(text_of(operand, plan));
    std::string words;
    if (step.kind == StepKind::Fill) words += fmt::format(" value {}", step.value);
    if (step.kind == StepKind::Reduce)
      words += fmt::format(" {} axis {}", ir::name_of(step.combine), step.axis);
    if (step.accumulate) words += " accumulate";
    if (step.is_gauge) words += " gauge";
    if (step.is_library) words += " library";
    text += fmt::format("      {}{} {} <- {} over {}{}{}\n", name_of(step.kind), words,
                        fmt::join(out, ", "), fmt::join(in, ", "), text_of(step.lengths),
                        step.body ? " " + body_text(*step.body) : "",
                        step.label.empty() ? "" : "  // " + step.label);
  }
}

void print_pipeline(std::string& text, const Pipeline& pipeline, const KernelPlan& plan) {
  constexpr std::array kSpreads = {"number", "rows", "columns", "tile", "sums"};
  text += fmt::format(
      "    pipeline in {} blocks of {} stages of {} bytes, warps {} x {}, {} x {} rows, {} x {} "
      "slices of a step\n",
      pipeline.blocks, pipeline.stages, pipeline.stage_bytes, pipeline.row_warps,
      pipeline.slice_warps, pipeline.row_warps, 16 * pipeline.row_tiles,
      pipeline.turns * pipeline.slice_warps, pipeline.slices);
  for (const StagedTile& tile : pipeline.tiles)
    text += fmt::format("      stage {} {} x {} at {}, boxes of {}\n", plan.params[tile.param].name,
                        tile.rows, tile.columns, tile.offset, tile.width);
  for (const Register& entry : pipeline.registers)
    text +=
        fmt::format("      registers {} {}{}{}\n", plan.scratch[entry.scratch].name,
                    kSpreads[static_cast<size_t>(entry.spread)],
                    entry.is_state ? " of all steps" : "", entry.is_read_after ? ", merged" : "");
}

void print_rows(std::string& text, const RowPlan& rows, const KernelPlan& plan) {
  text += fmt::format(
      "    rows of {} in registers: {} chunks of {} in each of {} threads of {} blocks, {} rows a "
      "block\n",
      text_of(rows.columns), rows.chunks, rows.width, rows.team, rows.cluster, rows.teams);
  for (const RowLoad& load : rows.loads)
    text += fmt::format("      load {}{}\n", text_of(load.operand, plan),
                        load.is_tile ? fmt::format(" by {}", load.access) : " of the row");
}

}  // namespace

int64_t RowPlan::rows_of_item() const {
  int64_t count = 1;
  for (const Length& length : rows) count *= length.max;
  return count;
}

bool RowPlan::is_even() const {
  return columns.ragged < 0 && columns.max == width * chunks * members();
}

std::string_view name_of(StepKind kind) {
  constexpr std::array kNames = {"fill", "count", "copy", "map", "reduce", "matmul", "running"};
  return kNames[static_cast<size_t>(kind)];
}

int64_t KernelPlan::items() const {
  int64_t count = 1;
  for (const ir::Axis& axis : launch.axes)
    if (axis.role != ir::Role::Loop) count *= axis.trips;
  return count;
}

int64_t KernelPlan::loop_steps() const {
  int64_t count = 1;
  for (const ir::Axis& axis : launch.axes)
    if (axis.role == ir::Role::Loop) count *= axis.trips;
  return count;
}

std::string print(const Program& program) {
  std::string text = fmt::format("program @{} target {} workspace {} bytes\n", program.name,
                                 program.target.name, program.workspace_bytes);
  constexpr std::array kKinds = {"input", "output", "workspace"};
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const BufferPlan& buffer = program.buffers[i];
    text += fmt::format("  buffer {} {}", i, kKinds[static_cast<size_t>(buffer.kind)]);
    if (buffer.kind == BufferKind::Workspace)
      text += fmt::format(" {} bytes at {} launches {}..{}\n", buffer.bytes, buffer.offset,
                          buffer.first, buffer.last);
    else
      text += fmt::format(" {}\n", buffer.index);
  }
  for (const KernelPlan& plan : program.launches) {
    std::vector<std::string> axes;
    for (const ir::Axis& axis : plan.launch.axes)
      axes.push_back(fmt::format("{}: {} {}", axis.name, ir::name_of(axis.role), axis.trips));
    text += fmt::format("  kernel {} axes({}) compute {} scratch {} bytes\n", plan.name,
                        fmt::join(axes, ", "), ir::name_of(plan.compute), plan.scratch_bytes);
    for (size_t i = 0; i < plan.params.size(); ++i) {
      const Param& param = plan.params[i];
      text += fmt::format("    {} {} = buffer {} + {} {}[{}]({})\n",
                          i < plan.first_output ? "in" : "out", param.name, param.buffer,
                          param.offset, ir::name_of(param.dtype), fmt::join(param.shape, ","),
                          fmt::join(param.strides, ","));
    }
    for (size_t i = 0; i < plan.ragged.size(); ++i) {
      std::vector<std::string_view> names;
      for (uint8_t axis : plan.ragged[i].axes) names.push_back(plan.launch.axes[axis].name);
      text += fmt::format("    length r{} = {} split by {}\n", i, plan.ragged[i].extent,
                          fmt::join(names, ", "));
    }
    for (const Scratch& scratch : plan.scratch)
      text += fmt::format("    scratch {} {}[{}] at {} steps {}..{}\n", scratch.name,
                          ir::name_of(scratch.dtype), scratch.elements, scratch.offset,
                          scratch.first, scratch.last);
    print_steps(text, "prologue", plan.prologue, plan);
    print_steps(text, "loop", plan.loop, plan);
    print_steps(text, "epilogue", plan.epilogue, plan);
    if (plan.pipeline) print_pipeline(text, *plan.pipeline, plan);
    if (plan.rows) print_rows(text, *plan.rows, plan);
  }
  return text;
}

}  // namespace mirage::lower
