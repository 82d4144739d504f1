#include "codegen/triton/kernel.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "codegen/spell.h"
#include "codegen/steps.h"
#include "codegen/triton/kernel_emitter.h"
#include "ir/text.h"

namespace mirage::codegen::triton {
namespace {

constexpr int64_t kMostPrograms = std::numeric_limits<int32_t>::max();

}  // namespace

using ir::Form;
using ir::Op;
using ir::OpKind;
using ir::ValueId;
using lower::KernelPlan;
using lower::Length;

KernelEmitter::KernelEmitter(const KernelPlan& plan, const lower::Target& target,
                             lower::TileLengths tiles)
    : plan_(plan),
      target_(target),
      block_(*plan.block),
      tiles_(std::move(tiles)),
      phases_(ir::phases_of(block_)),
      fusion_(lower::find_fusion(block_)),
      is_live_(lower::live_operators(block_)),
      axes_(tile_axes(block_, tiles_, is_live_)),
      values_(block_.values.size()) {
  for (size_t i = 0; i < block_.outputs.size(); ++i) outputs_[block_.outputs[i].index] = i;
}

Result<KernelText> KernelEmitter::run() {
  if (plan_.items() > kMostPrograms)
    return fail(Code::LimitExceeded, "kernel {}: a grid of {} programs, of which Triton has {}",
                plan_.name, plan_.items(), kMostPrograms);
  for (size_t i = 0; i < block_.ops.size(); ++i) {
    if (!is_live_[i]) continue;
    for (ValueId result : block_.ops[i].results) MIRAGE_TRY_VOID(check_size(result));
    if (axes_.uses_dot[i]) MIRAGE_TRY_VOID(check_operands(block_.ops[i]));
    MIRAGE_TRY_VOID(visit(block_.ops[i]));
  }
  return KernelText{function(), most_elements_ >= (1 << 14) ? 8 : 4, stages()};
}

void KernelEmitter::leaf(const Op& op) {
  const ValueId result = op.results[0];
  if (op.kind == OpKind::Const) {
    values_[result.index] = Tile{python_number(op.attrs.scalars[0]), plan_.compute, true};
    return;
  }
  const ValueId of = op.operands[0];
  const Length& length = lengths(of)[static_cast<size_t>(op.attrs.axis)];
  if (length.ragged < 0) {
    values_[result.index] = Tile{count(length), plan_.compute, true};
    return;
  }
  // A length may change with the loop although its phase says nothing of it.
  const std::string name = fresh(name_for(result));
  section(of).push_back(fmt::format("{} = {}", name, count(length)));
  values_[result.index] = Tile{name, plan_.compute};
}

Result<void> KernelEmitter::visit(const Op& op) {
  const ValueId result = op.results[0];
  switch (ir::def(op.kind).form) {
    case Form::Leaf:
      leaf(op);
      return {};
    case Form::Map:
      map(op);
      return {};
    case Form::Reduce:
      reduce(op);
      return {};
    case Form::Contract:
      if (!is_added(result)) define(result, product(op, "", result));
      return {};
    case Form::Accum:
      if (op.kind == OpKind::RunningMax || op.kind == OpKind::RunningGauge)
        running(op);
      else
        accumulate(op);
      return {};
    case Form::Move:
      if (op.kind == OpKind::Load) load(op);
      if (op.kind == OpKind::Store) store(op);
      if (op.kind == OpKind::Transpose) move(op);
      if (op.kind == OpKind::Narrow) narrow(op);
      if (op.kind == OpKind::Concat) concat(op);
      return op.kind == OpKind::Reshape ? reshape(op) : Result<void>();
    case Form::Block:
      break;
  }
  return unsupported("kernel {}: {}: no such operator inside a block", plan_.name,
                     ir::def(op.kind).name);
}

std::vector<uint8_t> KernelEmitter::axes_of(bool is_loop) const {
  std::vector<uint8_t> axes;
  for (size_t i = 0; i < plan_.launch.axes.size(); ++i)
    if ((plan_.launch.axes[i].role == ir::Role::Loop) == is_loop)
      axes.push_back(static_cast<uint8_t>(i));
  return axes;
}

int KernelEmitter::stages() const {
  constexpr int64_t kBytes = 96 << 10, kMost = 3;
  return static_cast<int>(
      std::clamp<int64_t>(kBytes / std::max<int64_t>(loop_bytes_, 1), 1, kMost));
}

void KernelEmitter::emit_lengths(Writer& out, bool in_loop) const {
  for (size_t i = 0; i < plan_.ragged.size(); ++i) {
    const lower::Ragged& ragged = plan_.ragged[i];
    bool depends = false;
    std::string text = std::to_string(ragged.extent);
    int64_t rest = ragged.extent;
    for (uint8_t axis : ragged.axes) {
      const int64_t trips = plan_.launch.axes[axis].trips;
      depends |= plan_.launch.axes[axis].role == ir::Role::Loop;
      rest = (rest + trips - 1) / trips;
      text = fmt::format("tile_length({}, {}, {})", text, axis_name(plan_, axis), rest);
    }
    if (depends == in_loop) out.line("{} = {}", ragged_name(static_cast<int>(i)), text);
  }
}

void KernelEmitter::emit_lines(Writer& out, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) out.raw(line);
}

void KernelEmitter::emit_grid(Writer& out) const {
  out.line("pid = tl.program_id(0)");
  int64_t inner = plan_.items();
  bool is_outermost = true;
  for (uint8_t axis : axes_of(false)) {
    const int64_t trips = plan_.launch.axes[axis].trips;
    inner /= std::max<int64_t>(trips, 1);
    out.line("{} = pid{}{}", axis_name(plan_, axis), inner == 1 ? "" : fmt::format(" // {}", inner),
             is_outermost ? "" : fmt::format(" % {}", trips));
    is_outermost = false;
  }
}

std::string KernelEmitter::function() const {
  Writer out(4);
  const std::string text = ir::print(block_);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out.raw("# " + text.substr(at, end - at));
    at = end + 1;
  }
  std::vector<std::string> parameters;
  for (size_t i = 0; i < plan_.params.size(); ++i) parameters.push_back(param_name(plan_, i));
  out.raw("@triton.jit");
  out.line("def {}({}):", plan_.name, fmt::join(parameters, ", "));
  out.indent();
  emit_grid(out);
  for (size_t number : ranges_) out.line("r{} = tl.arange(0, {})", number, axes_.sizes[number]);
  emit_lengths(out, false);
  emit_lines(out, prologue_);
  if (!loop_.empty()) {
    const std::vector<uint8_t> loops = axes_of(true);
    for (uint8_t axis : loops) {
      out.line("for {} in range(0, {}):", axis_name(plan_, axis), plan_.launch.axes[axis].trips);
      out.indent();
    }
    emit_lengths(out, true);
    emit_lines(out, loop_);
    for (size_t i = 0; i < loops.size(); ++i) out.outdent();
  }
  emit_lines(out, epilogue_);
  return out.take();
}

Result<KernelText> kernel_text(const KernelPlan& plan, const lower::Target& target) {
  MIRAGE_TRY(lower::TileLengths tiles, lower::tile_lengths(*plan.block));
  return KernelEmitter(plan, target, std::move(tiles)).run();
}

}  // namespace mirage::codegen::triton
