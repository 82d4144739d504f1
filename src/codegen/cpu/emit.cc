#include "codegen/cpu/emit.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/cpu/spell.h"
#include "codegen/cpu/steps.h"
#include "codegen/writer.h"

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
      length = fmt::format("std::clamp<int64_t>({} - {} * {}, 0, {})", length,
                           cpu::axis_name(plan, axis), rest, rest);
    }
    out.line("[[maybe_unused]] const int64_t {} = {};", cpu::ragged_name(static_cast<int>(i)),
             length);
  }
}

void emit_steps(Writer& out, const KernelPlan& plan, const std::vector<Step>& steps) {
  for (const Step& step : steps) cpu::emit_step(out, plan, step);
}

void emit_kernel(Writer& out, const KernelPlan& plan) {
  out.open("namespace {} {{", plan.name);
  out.line("using T = {};", cpu::type_name(plan.compute));
  out.line("using V = Vec<T, Isa>;");
  out.blank();
  out.open(
      "void run([[maybe_unused]] void* const* buffers, int64_t begin, int64_t end, "
      "[[maybe_unused]] std::byte* scratch, [[maybe_unused]] Workspace& workspace) {{");
  for (size_t i = 0; i < plan.params.size(); ++i) {
    const lower::Param& param = plan.params[i];
    const std::string_view qualifier = i < plan.first_output ? "const " : "";
    out.line("[[maybe_unused]] {}{}* const {} = static_cast<{}{}*>(buffers[{}]) + {};", qualifier,
             cpu::type_name(param.dtype), cpu::param_name(plan, i), qualifier,
             cpu::type_name(param.dtype), param.buffer, param.offset);
  }
  for (size_t i = 0; i < plan.scratch.size(); ++i)
    out.line("[[maybe_unused]] {0}* const {1} = reinterpret_cast<{0}*>(scratch + {2});",
             cpu::type_name(plan.scratch[i].dtype), cpu::scratch_name(plan, i),
             plan.scratch[i].offset);
  out.open("for (int64_t item = begin; item < end; ++item) {{");
  out.line("[[maybe_unused]] int64_t rest = item;");
  std::vector<uint8_t> loops;
  for (size_t i = plan.launch.axes.size(); i-- > 0;) {
    const uint8_t axis = static_cast<uint8_t>(i);
    const std::string name = cpu::axis_name(plan, axis);
    if (is_loop(plan, axis)) {
      loops.insert(loops.begin(), axis);
      continue;
    }
    const int64_t trips = plan.launch.axes[i].trips;
    out.line("[[maybe_unused]] const int64_t {} = rest % {}; rest /= {};", name, trips, trips);
  }
  emit_ragged(out, plan, false);
  emit_steps(out, plan, plan.prologue);
  if (!plan.loop.empty()) {
    std::vector<std::string> is_zero;
    for (uint8_t axis : loops) {
      const std::string name = cpu::axis_name(plan, axis);
      out.open("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", name, plan.launch.axes[axis].trips);
      is_zero.push_back(name + " == 0");
    }
    if (loops.empty()) out.open("{{");
    out.line("[[maybe_unused]] const bool is_first = {};",
             is_zero.empty() ? "true" : fmt::format("{}", fmt::join(is_zero, " && ")));
    emit_ragged(out, plan, true);
    emit_steps(out, plan, plan.loop);
    for (size_t i = 0; i < std::max<size_t>(loops.size(), 1); ++i) out.close();
  }
  emit_steps(out, plan, plan.epilogue);
  out.close();
  out.close();
  out.close(fmt::format("}}  // namespace {}", plan.name).c_str());
  out.blank();
}

bool uses_library(const lower::Program& program) {
  for (const KernelPlan& plan : program.launches)
    for (const auto* steps : {&plan.prologue, &plan.loop, &plan.epilogue})
      for (const Step& step : *steps)
        if (step.is_library) return true;
  return false;
}

std::vector<Argument> arguments(const std::vector<ir::TensorType>& types,
                                const std::vector<ir::Strides>& strides) {
  std::vector<Argument> result;
  for (size_t i = 0; i < types.size(); ++i)
    result.push_back({{}, types[i].dtype, types[i].shape, strides[i]});
  return result;
}

}  // namespace

SourceUnit unit_for(const lower::Target& target) {
  SourceUnit unit;
  unit.target = target.name;
  unit.march = target.march;
  unit.options = {"-std=c++20", "-O3", "-ffp-contract=off", "-fno-math-errno",
                  "-fno-trapping-math"};
  if (!unit.march.empty()) unit.options.push_back("-march=" + unit.march);
  unit.prelude =
      "#include \"mirage/cpu/chain.h\"\n#include \"mirage/cpu/gemm.h\"\n#include "
      "\"mirage/cpu/pow.h\"\n";
  return unit;
}

Result<SourceUnit> emit_cpu(const lower::Program& program) {
  if (program.target.backend != lower::Backend::Cpu)
    return unsupported("target {}: not a cpu target", program.target.name);
  SourceUnit unit = unit_for(program.target);
  Writer out;
  out.line("// program @{}, graph {}, target {}", program.name, to_hex(program.graph_hash),
           program.target.name);
  const std::string plan_text = print(program);
  for (size_t at = 0; at < plan_text.size();) {
    const size_t end = plan_text.find('\n', at);
    out.raw("// " + plan_text.substr(at, end - at));
    at = end + 1;
  }
  out.raw(unit.prelude);
  if (uses_library(program)) {
    out.line(
        "// cblas_sgemm and cblas_dgemm of a vendor library, set by the loader if there is one.");
    for (const auto& [name, type] :
         {std::pair("mirage_sgemm", "float"), {"mirage_dgemm", "double"}})
      out.line(
          "extern \"C\" {{ void (*{0})(int, int, int, int, int, int, {1}, const {1}*, int, const "
          "{1}*, int, {1}, {1}*, int) = nullptr; }}",
          name, type);
    out.blank();
  }
  out.line("namespace {{");
  out.line("using namespace mirage::cpu;");
  out.line("using Isa = Native;");
  out.blank();
  out.line("template <class S>");
  out.line("const S* as_const(const S* data) {{ return data; }}");
  out.blank();
  for (const KernelPlan& plan : program.launches) emit_kernel(out, plan);
  out.line("}}  // namespace");
  out.blank();
  out.raw("extern \"C\" void* mirage_new_workspace() { return new Workspace(); }");
  out.raw(
      "extern \"C\" void mirage_delete_workspace(void* workspace) { delete "
      "static_cast<Workspace*>(workspace); }");
  out.open(
      "extern \"C\" void mirage_run(int64_t launch, void* const* buffers, int64_t begin, int64_t "
      "end, std::byte* scratch, void* memory) {{");
  out.line("Workspace& workspace = *static_cast<Workspace*>(memory);");
  out.open("switch (launch) {{");
  for (size_t i = 0; i < program.launches.size(); ++i)
    out.line("case {}: return {}::run(buffers, begin, end, scratch, workspace);", i,
             program.launches[i].name);
  out.close();
  out.close();

  for (const KernelPlan& plan : program.launches)
    unit.entries.push_back({plan.name, plan.items(), plan.scratch_bytes});
  constexpr BufferSource kSources[] = {BufferSource::Input, BufferSource::Output,
                                       BufferSource::Workspace};
  for (const lower::BufferPlan& buffer : program.buffers)
    unit.buffers.push_back(
        {kSources[static_cast<size_t>(buffer.kind)], buffer.index, buffer.offset});
  unit.inputs = arguments(program.inputs, program.input_strides);
  for (size_t i = 0; i < unit.inputs.size(); ++i) unit.inputs[i].name = program.input_names[i];
  unit.outputs = arguments(program.outputs, program.output_strides);
  unit.workspace_bytes = program.workspace_bytes;
  unit.text = out.take();
  Hasher hasher;
  hasher.add(unit.text);
  for (const std::string& option : unit.options) hasher.add(option);
  unit.key = hasher.finish();
  return unit;
}

}  // namespace mirage::codegen
