#include "codegen/cpu/emit.h"

#include "codegen/cpu/matmul.h"
#include "codegen/kernel.h"
#include "codegen/spell.h"

namespace mirage::codegen {
namespace {

using lower::KernelPlan;
using lower::Step;

constexpr Dialect kDialect{cpu::emit_matmul};

void emit_kernel(Writer& out, const KernelPlan& plan) {
  out.open("namespace {} {{", plan.name);
  out.line("using T = {};", type_name(plan.compute));
  out.line("using V = Vec<T, Isa>;");
  out.blank();
  out.open(
      "void run([[maybe_unused]] void* const* buffers, int64_t begin, int64_t end, "
      "[[maybe_unused]] std::byte* scratch, [[maybe_unused]] Workspace& workspace) {{");
  emit_pointers(out, plan, [&](size_t i) {
    return fmt::format("static_cast<{}*>(buffers[{}])", pointee(plan, i), plan.params[i].buffer);
  });
  out.open("for (int64_t item = begin; item < end; ++item) {{");
  emit_phases(out, plan, kDialect);
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
  unit.text = out.take();
  describe(unit, program);
  return unit;
}

}  // namespace mirage::codegen
