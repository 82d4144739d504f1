#pragma once
// The body of a kernel as text, the same in every language: axes, tile lengths, steps in their
// phases.

#include "codegen/source_unit.h"
#include "codegen/steps.h"
#include "codegen/writer.h"
#include "lower/program.h"

namespace mirage::codegen {

/// Expects the variables item, the parameters and the scratch buffers; opens no scope of its own.
void emit_phases(Writer& out, const lower::KernelPlan& plan, const Dialect& dialect);

/// The printed program as comments, with a head that names program, graph and target.
void emit_banner(Writer& out, const lower::Program& program);

/// Buffers, arguments and the key: what units of every language say of their program.
void describe(SourceUnit& unit, const lower::Program& program);

}  // namespace mirage::codegen
