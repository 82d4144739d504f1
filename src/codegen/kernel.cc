#include "codegen/kernel.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace mirage::codegen {
namespace {

using lower::KernelPlan;
using lower::Ragged;
using lower::Step;

bool is_loop(const KernelPlan& plan, uint8_t axis) {
  return plan.launch.axes[axis].role == ir::Role::Loop;
}

void emit_ragged(Writer& out, const KernelPlan& plan, bool in_loop) {
  for (size_t i = 0; i < plan.ragged.size(); ++i) {
    const Ragged& ragged = plan.ragged[i];
    const bool depends = std::any_of(ragged.axes.begin(), ragged.axes.end(),
                                     [&](uint8_t axis) { return is_loop(plan, axis); });
    if (depends != in_loop) continue;
    std::string length = fmt::format("{}", ragged.extent);
    int64_t rest = ragged.extent;
    for (uint8_t axis : ragged.axes) {
      const int64_t trips = plan.launch.axes[axis].trips;
      rest = (rest + trips - 1) / trips;
      length = fmt::format("tile_length({}, {}, {})", length, axis_name(plan, axis), rest);
    }
    out.line("[[maybe_unused]] const int64_t {} = {};", ragged_name(static_cast<int>(i)), length);
  }
}

std::vector<Argument> arguments(const std::vector<ir::TensorType>& types,
                                const std::vector<ir::Strides>& strides) {
  std::vector<Argument> result;
  for (size_t i = 0; i < types.size(); ++i)
    result.push_back({{}, types[i].dtype, types[i].shape, strides[i]});
  return result;
}

}  // namespace

std::string pointee(const KernelPlan& plan, size_t i) {
  return fmt::format("{}{}", i < plan.first_output ? "const " : "",
                     type_name(plan.params[i].dtype));
}

void emit_grid(Writer& out, const KernelPlan& plan) {
  out.line("[[maybe_unused]] int64_t rest = item;");
  for (size_t i = plan.launch.axes.size(); i-- > 0;) {
    const uint8_t axis = static_cast<uint8_t>(i);
    if (is_loop(plan, axis)) continue;
    const int64_t trips = plan.launch.axes[i].trips;
    out.line("[[maybe_unused]] const int64_t {} = rest % {}; rest /= {};", axis_name(plan, axis),
             trips, trips);
  }
  emit_ragged(out, plan, false);
}

void emit_steps(Writer& out, const KernelPlan& plan, const std::vector<Step>& steps,
                const Dialect& dialect) {
  for (const Step& step : steps) emit_step(out, plan, step, dialect);
}

void emit_phases(Writer& out, const KernelPlan& plan, const Dialect& dialect) {
  emit_grid(out, plan);
  std::vector<uint8_t> loops;
  for (size_t axis = 0; axis < plan.launch.axes.size(); ++axis)
    if (is_loop(plan, static_cast<uint8_t>(axis))) loops.push_back(static_cast<uint8_t>(axis));
  emit_steps(out, plan, plan.prologue, dialect);
  if (!plan.loop.empty()) {
    std::vector<std::string> is_zero;
    for (uint8_t axis : loops) {
      const std::string name = axis_name(plan, axis);
      out.open("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", name, plan.launch.axes[axis].trips);
      is_zero.push_back(name + " == 0");
    }
    if (loops.empty()) out.open("{{");
    out.line("[[maybe_unused]] const bool is_first = {};",
             is_zero.empty() ? "true" : fmt::format("{}", fmt::join(is_zero, " && ")));
    emit_ragged(out, plan, true);
    emit_steps(out, plan, plan.loop, dialect);
    for (size_t i = 0; i < std::max<size_t>(loops.size(), 1); ++i) out.close();
  }
  emit_steps(out, plan, plan.epilogue, dialect);
}

void emit_banner(Writer& out, const lower::Program& program) {
  out.line("// program @{}, graph {}, target {}", program.name, to_hex(program.graph_hash),
           program.target.name);
  const std::string plan_text = print(program);
  for (size_t at = 0; at < plan_text.size();) {
    const size_t end = plan_text.find('\n', at);
    out.raw("// " + plan_text.substr(at, end - at));
    at = end + 1;
  }
}

void describe(SourceUnit& unit, const lower::Program& program) {
  constexpr BufferSource kSources[] = {BufferSource::Input, BufferSource::Output,
                                       BufferSource::Workspace};
  for (const lower::BufferPlan& buffer : program.buffers)
    unit.buffers.push_back(
        {kSources[static_cast<size_t>(buffer.kind)], buffer.index, buffer.offset});
  unit.inputs = arguments(program.inputs, program.input_strides);
  for (size_t i = 0; i < unit.inputs.size(); ++i) unit.inputs[i].name = program.input_names[i];
  unit.outputs = arguments(program.outputs, program.output_strides);
  unit.workspace_bytes = program.workspace_bytes;
  Hasher hasher;
  hasher.add(unit.text);
  for (const std::string& option : unit.options) hasher.add(option);
  unit.key = hasher.finish();
}

}  // namespace mirage::codegen
