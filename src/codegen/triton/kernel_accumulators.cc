// What a loop keeps from step to step.

#include "codegen/spell.h"
#include "codegen/steps.h"
#include "codegen/triton/kernel_emitter.h"
#include "codegen/triton/tile_text.h"

namespace mirage::codegen::triton {

using ir::Combine;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

std::string KernelEmitter::new_state(const std::string& name, ValueId value, const char* start) {
  std::string state = fresh(name);
  prologue_.push_back(fmt::format("{} = tl.full({}, {}, {})", state, shape_text(axes_.shape(value)),
                                  start, compute_type()));
  return state;
}

bool KernelEmitter::is_added(ValueId value) const {
  const Op* op = block_.def_of(value);
  if (!fusion_.is_accumulated[value.index] || !op || op->kind != OpKind::MatMul) return false;
  const Op& user = block_.op(fusion_.user[value.index]);
  return axes_.shape(value) == axes_.shape(user.results[0]);
}

void KernelEmitter::accumulate(const Op& op) {
  const ValueId result = op.results[0], x = op.operands[0];
  const bool is_max = op.attrs.combine == Combine::Max;
  const std::string state = new_state(name_for(result), result, is_max ? kLowest : "0.0");
  if (op.kind == OpKind::AccumRescale)
    loop_.push_back(fmt::format("{} = {} * {}", state, state, broadcast(op.operands[1], result)));
  if (is_added(x)) {
    loop_.push_back(fmt::format("{} = {}", state, product(*block_.def_of(x), state, x)));
  } else {
    std::string text = broadcast(x, result);
    // A tile shorter than the state adds to its front.
    for (size_t i = 0; op.kind == OpKind::Accum && i < lengths(x).size(); ++i)
      if (lengths(x)[i] != lengths(result)[i]) text = filled(x, i, text, is_max ? kLowest : "0.0");
    loop_.push_back(
        fmt::format(fmt::runtime(is_max ? "{0} = larger({0}, {1})" : "{0} += {1}"), state, text));
  }
  Tile& known = values_[result.index].emplace();
  known.text = state;
  known.dtype = plan_.compute;
  if (op.attrs.combine != Combine::Mean) return;
  known.text = fresh(state + "_mean");
  epilogue_.push_back(fmt::format("{} = {} / {}", known.text, state,
                                  python_number(static_cast<double>(plan_.loop_steps()))));
}

void KernelEmitter::running(const Op& op) {
  const ValueId m = op.results[0], d = op.results[1];
  const bool is_gauge = op.kind == OpKind::RunningGauge;
  const std::string raw = new_state(name_for(m) + "_raw", m, kLowest);
  const std::string next = fresh(name_for(m) + "_next");
  loop_.push_back(
      fmt::format("{} = larger({}, {})", next, raw,
                  reduced(op.operands[0], static_cast<size_t>(op.attrs.axis), Combine::Max, m)));
  const auto shift = [&](const std::string& text) { return is_gauge ? shifted(text) : text; };
  define(m, shift(next));
  // No step before this one, or the same maximum: nothing to rescale.
  define(d, fmt::format("tl.where(({0} == {1}) | ({2}), 0.0, {3} - {4})", raw, next,
                        is_gauge ? fmt::format("{} == {}", raw, kLowest) : is_first(), shift(raw),
                        tile(m).text));
  loop_.push_back(fmt::format("{} = {}", raw, next));
}

std::string KernelEmitter::is_first() const {
  std::string text;
  for (uint8_t axis : axes_of(true))
    text += fmt::format("{}({} == 0)", text.empty() ? "" : " & ", axis_name(plan_, axis));
  return text.empty() ? "True" : text;
}

}  // namespace mirage::codegen::triton
