#include "codegen/cpu/emit.h"

#include <fmt/ranges.h>

#include <unordered_map>

#include "codegen/cpu/matmul.h"
#include "codegen/kernel.h"
#include "codegen/spell.h"

namespace mirage::codegen {
namespace {

using lower::KernelPlan;
using lower::Step;

constexpr Dialect kDialect{cpu::emit_matmul};

/// From so many launches on, those whose text is the same but for names share it: compiling takes
/// 15 to 20 ms a kernel, and long programs repeat their layers. Short ones stay as they read best.
constexpr size_t kManyLaunches = 64;

/// `is_shared`: the buffers of the parameters are listed in `own`, else they are in the text.
void emit_kernel(Writer& out, const KernelPlan& plan, bool is_shared) {
  out.open("namespace {} {{", plan.name);
  out.line("using T = {};", type_name(plan.compute));
  out.line("using V = Vec<T, Isa>;");
  out.blank();
  out.open(
      "{}void run([[maybe_unused]] void* const* buffers, {}int64_t begin, int64_t end, "
      "[[maybe_unused]] std::byte* scratch, [[maybe_unused]] Workspace& workspace) {{",
      is_shared ? "__attribute__((noinline)) " : "",  // into every case of mirage_run
      is_shared ? "[[maybe_unused]] const int* own, " : "");
  emit_pointers(out, plan, [&](size_t i) {
    const std::string index =
        is_shared ? fmt::format("own[{}]", i) : std::to_string(plan.params[i].buffer);
    return fmt::format("static_cast<{}*>(buffers[{}])", pointee(plan, i), index);
  });
  out.open("for (int64_t item = begin; item < end; ++item) {{");
  emit_phases(out, plan, kDialect);
  out.close();
  out.close();
  out.close(fmt::format("}}  // namespace {}", plan.name).c_str());
  out.blank();
}

/// The text of a kernel without the names of its values.
std::string nameless_text(KernelPlan plan) {
  plan.name = "k";
  for (lower::Param& param : plan.params) param.name = "v";
  for (lower::Scratch& scratch : plan.scratch) scratch.name = "v";
  for (auto* steps : {&plan.prologue, &plan.loop, &plan.epilogue})
    for (Step& step : *steps) step.label.clear();
  Writer out;
  emit_kernel(out, plan, true);
  return out.take();
}

/// For each launch the first one with the same text.
std::vector<size_t> first_alike(const std::vector<KernelPlan>& launches) {
  std::unordered_map<std::string, size_t> first;
  std::vector<size_t> alike;
  for (size_t i = 0; i < launches.size(); ++i)
    alike.push_back(first.emplace(nameless_text(launches[i]), i).first->second);
  return alike;
}

void emit_kernels(Writer& out, const std::vector<KernelPlan>& launches,
                  const std::vector<size_t>& alike) {
  for (size_t i = 0; i < launches.size(); ++i)
    if (alike.empty() || alike[i] == i) emit_kernel(out, launches[i], !alike.empty());
}

/// `case i` of the switch that calls kernels by the number of their launch.
void emit_case(Writer& out, const std::vector<KernelPlan>& launches,
               const std::vector<size_t>& alike, size_t i) {
  if (alike.empty()) {
    out.line("case {}: return {}::run(buffers, begin, end, scratch, workspace);", i,
             launches[i].name);
    return;
  }
  std::vector<size_t> own;
  for (const lower::Param& param : launches[i].params) own.push_back(param.buffer);
  if (own.empty()) own.push_back(0);
  out.open("case {}: {{  // {}", i, launches[i].name);
  out.line("static constexpr int own[] = {{{}}};", fmt::join(own, ", "));
  out.line("return {}::run(buffers, own, begin, end, scratch, workspace);",
           launches[alike[i]].name);
  out.close();
}

bool uses_library(const lower::Program& program) {
  for (const KernelPlan& plan : program.launches)
    for (const auto* steps : {&plan.prologue, &plan.loop, &plan.epilogue})
      for (const Step& step : *steps)
        if (step.is_library) return true;
  return false;
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
  emit_banner(out, program);
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
  const std::vector<size_t> alike = program.launches.size() < kManyLaunches
                                        ? std::vector<size_t>{}
                                        : first_alike(program.launches);
  emit_kernels(out, program.launches, alike);
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
  for (size_t i = 0; i < program.launches.size(); ++i) emit_case(out, program.launches, alike, i);
  out.close();
  out.close();

  for (const KernelPlan& plan : program.launches)
    unit.entries.push_back({plan.name, plan.items(), plan.scratch_bytes});
  unit.text = out.take();
  describe(unit, program);
  return unit;
}

}  // namespace mirage::codegen
