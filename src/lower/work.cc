#include "lower/work.h"

#include <algorithm>

#include "ir/op_table.h"

namespace mirage::lower {
namespace {

double value_of(const KernelPlan& plan, const Length& length) {
  if (length.ragged < 0) return static_cast<double>(length.max);
  const Ragged& ragged = plan.ragged[static_cast<size_t>(length.ragged)];
  double tiles = 1;
  for (uint8_t axis : ragged.axes) tiles *= static_cast<double>(plan.launch.axes[axis].trips);
  return static_cast<double>(ragged.extent) / tiles;
}

double product_of(const KernelPlan& plan, const std::vector<Length>& lengths) {
  double product = 1;
  for (const Length& length : lengths) product *= value_of(plan, length);
  return product;
}

/// Elements of an operand that one execution of a step touches.
double elements_of(const KernelPlan& plan, const Step& step, const Operand& operand, bool is_out,
                   size_t number) {
  if (step.kind != StepKind::MatMul) {
    double elements = 1;
    for (size_t i = 0; i < operand.strides.size() && i < step.lengths.size(); ++i)
      if (operand.strides[i] != 0) elements *= value_of(plan, step.lengths[i]);
    return elements;
  }
  // [batch..., m, n, k]: an operand lacks one of the last three.
  const size_t rank = step.lengths.size();
  const size_t lacking = is_out ? rank - 1 : number == 0 ? rank - 2 : rank - 3;
  double elements = 1;
  for (size_t i = 0; i < rank; ++i)
    if (i != lacking && (i + 3 >= rank || operand.strides[i] != 0))
      elements *= value_of(plan, step.lengths[i]);
  return elements;
}

/// Operations for one point of the iteration space.
double flops_per_point(const Step& step) {
  constexpr double kRunning = 3;  // a maximum, a difference, a choice
  double flops = 0;
  if (step.body)
    for (const ir::Op& op : step.body->ops) flops += op.kind == ir::OpKind::Const ? 0 : 1;
  if (step.kind == StepKind::Reduce) flops += 1;
  if (step.kind == StepKind::MatMul) flops += 2;
  if (step.kind == StepKind::Running) flops += kRunning;
  return flops;
}

void add(KernelWork& work, const KernelPlan& plan, const std::vector<Step>& steps, double times) {
  for (const Step& step : steps) {
    work.flops += times * product_of(plan, step.lengths) * flops_per_point(step);
    const auto count = [&](const std::vector<Operand>& operands, bool is_out) {
      for (size_t i = 0; i < operands.size(); ++i)
        if (operands[i].space == Space::Param)
          work.accessed_bytes += times * elements_of(plan, step, operands[i], is_out, i) *
                                 static_cast<double>(ir::bytes_of(operands[i].dtype));
    };
    count(step.in, false);
    count(step.out, true);
  }
}

double bytes_of(const Param& param) {
  double elements = 1;
  for (size_t i = 0; i < param.shape.size(); ++i)
    if (param.strides[i] != 0) elements *= static_cast<double>(param.shape[i]);
  return elements * static_cast<double>(ir::bytes_of(param.dtype));
}

bool is_same(const Param& a, const Param& b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.shape == b.shape &&
         a.strides == b.strides;
}

KernelWork work_of(const KernelPlan& plan) {
  KernelWork work;
  work.name = plan.name;
  work.items = plan.items();
  work.loop_steps = plan.loop_steps();
  work.scratch_bytes = plan.scratch_bytes;
  const auto items = static_cast<double>(work.items);
  add(work, plan, plan.prologue, items);
  add(work, plan, plan.loop, items * static_cast<double>(work.loop_steps));
  add(work, plan, plan.epilogue, items);
  for (size_t i = 0; i < plan.params.size(); ++i) {
    const bool is_output = i >= plan.first_output;
    const auto first =
        plan.params.begin() + static_cast<ptrdiff_t>(is_output ? plan.first_output : 0);
    const auto here = plan.params.begin() + static_cast<ptrdiff_t>(i);
    const bool is_known =
        std::any_of(first, here, [&](const Param& other) { return is_same(other, *here); });
    if (!is_known) (is_output ? work.written_bytes : work.read_bytes) += bytes_of(*here);
  }
  return work;
}

}  // namespace

std::vector<KernelWork> work_of(const Program& program) {
  std::vector<KernelWork> works;
  for (const KernelPlan& plan : program.launches) works.push_back(work_of(plan));
  return works;
}

}  // namespace mirage::lower
