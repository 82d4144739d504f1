#pragma once
// One step of a kernel as text: a call into the device library of the language, inside loops where
// the call does not take all axes. The libraries (device/cpu, device/cuda) have functions of the
// same names and meaning; what they do not share is a Dialect.

#include "codegen/loops.h"
#include "codegen/writer.h"
#include "lower/program.h"

namespace mirage::codegen {

struct Dialect {
  void (*matmul)(Writer& out, const lower::KernelPlan& plan, const lower::Step& step);
};

/// Names that kernels use: axes, ragged lengths, parameters, scratch.
std::string axis_name(const lower::KernelPlan& plan, uint8_t axis);
std::string ragged_name(int ragged);
std::string param_name(const lower::KernelPlan& plan, size_t index);
std::string scratch_name(const lower::KernelPlan& plan, size_t index);

std::string length_text(const lower::Length& length);
/// The address of an operand inside the loops of its step, whose strides are `outer`.
std::string address(const lower::KernelPlan& plan, const lower::Operand& operand,
                    const std::vector<int64_t>& outer = {});

/// Loops around a call, and what an operand moves by in each.
void open_loops(Writer& out, const std::vector<LoopAxis>& outer);
void close_loops(Writer& out, const std::vector<LoopAxis>& outer);
std::vector<int64_t> strides_of(const std::vector<LoopAxis>& outer, size_t operand);

/// The batch axes of a product as loops; operands are result, left, right.
std::vector<LoopAxis> batch_loops(const lower::Step& matmul);

/// A call: `head` up to an argument, then the step's thread graph as a lambda (the identity without
/// one), then `arguments`. Inputs that are `shared` are the same for all elements of the call; what
/// is divided by a value of them alone is spelt shared_quotient(a, b).
void emit_call(Writer& out, const std::string& head, const lower::Step& step,
               const std::vector<std::string>& arguments, const std::vector<bool>& shared = {});

void emit_step(Writer& out, const lower::KernelPlan& plan, const lower::Step& step,
               const Dialect& dialect);

}  // namespace mirage::codegen
