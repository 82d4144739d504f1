#pragma once
// The body of a kernel as text, the same in every language: axes, tile lengths, steps in their
// phases.

#include "codegen/source_unit.h"
#include "codegen/spell.h"
#include "codegen/steps.h"
#include "codegen/writer.h"
#include "lower/program.h"

namespace mirage::codegen {

/// The type that parameter i points to: const for what is only read.
std::string pointee(const lower::KernelPlan& plan, size_t i);

/// Pointers to parameters and scratch buffers; base(i) is the text of the address of parameter i's
/// buffer, `scratch` a variable of the text.
template <class Base>
void emit_pointers(Writer& out, const lower::KernelPlan& plan, const Base& base) {
  for (size_t i = 0; i < plan.params.size(); ++i)
    out.line("[[maybe_unused]] {}* const {} = {} + {};", pointee(plan, i), param_name(plan, i),
             base(i), plan.params[i].offset);
  if (plan.rows) return;  // all in registers
  for (size_t i = 0; i < plan.scratch.size(); ++i)
    out.line("[[maybe_unused]] {0}* const {1} = reinterpret_cast<{0}*>(scratch + {2});",
             type_name(plan.scratch[i].dtype), scratch_name(plan, i), plan.scratch[i].offset);
}

/// The axes of the grid from `item`, and lengths that depend on them alone.
void emit_grid(Writer& out, const lower::KernelPlan& plan);

void emit_steps(Writer& out, const lower::KernelPlan& plan, const std::vector<lower::Step>& steps,
                const Dialect& dialect);

/// Grid, prologue, loop, epilogue. Expects the variables item, the parameters and the scratch
/// buffers; opens no scope of its own.
void emit_phases(Writer& out, const lower::KernelPlan& plan, const Dialect& dialect);

/// The printed program as comments, with a head that names program, graph and target.
void emit_banner(Writer& out, const lower::Program& program);

/// Buffers, arguments and the key: what units of every language say of their program.
void describe(SourceUnit& unit, const lower::Program& program);

}  // namespace mirage::codegen
