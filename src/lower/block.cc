#include "lower/block.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "lower/fuse.h"
#include "lower/memory_plan.h"
#include "lower/pipeline.h"
#include "lower/rows.h"
#include "lower/tiles.h"
#include "lower/views.h"
#include "util/check.h"

namespace mirage::lower {
namespace {

using ir::Combine;
using ir::Form;
using ir::Op;
using ir::OpKind;
using ir::Phase;
using ir::ValueId;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class BlockLowering {
 public:
  BlockLowering(const ir::Graph& block, std::vector<Param> inputs, std::vector<Param> outputs,
                std::string name, const Target& target)
      : block_(block), target_(target), phases_(phases_of(block)), fusion_(find_fusion(block)) {
    plan_.name = std::move(name);
    plan_.launch = block.launch;
    plan_.first_output = inputs.size();
    plan_.params = std::move(inputs);
    for (Param& output : outputs) plan_.params.push_back(std::move(output));
    views_.resize(block.values.size());
  }

  Result<KernelPlan> run() {
    for (const ir::Axis& axis : block_.launch.axes)
      if ((axis.role == ir::Role::Cluster || axis.role == ir::Role::Warp) && axis.trips > 1)
        return unsupported("block axis {}: {} axes of more than one step", axis.name,
                           name_of(axis.role));
    MIRAGE_TRY_VOID(choose_compute_type());
    MIRAGE_TRY(tiles_, tile_lengths(block_));
    plan_.ragged = tiles_.ragged;
    for (size_t i = 0; i < block_.outputs.size(); ++i) store_param_[block_.outputs[i].index] = i;
    const std::vector<bool> is_live = live_operators(block_);
    for (size_t i = 0; i < block_.ops.size(); ++i)
      if (is_live[i]) MIRAGE_TRY_VOID(visit(block_.ops[i]));
    // What registers cannot hold is done step by step, by the whole block.
    if (Result<Pipeline> pipeline = plan_pipeline(plan_, target_)) plan_.pipeline = *pipeline;
    if (Result<RowPlan> rows = plan_rows(plan_, target_)) plan_.rows = *rows;
    MIRAGE_TRY_VOID(plan_scratch());
    if (plan_.pipeline && !fit_stages(*plan_.pipeline, plan_, target_)) {
      plan_.pipeline.reset();
      MIRAGE_TRY_VOID(plan_scratch());
    }
    return std::move(plan_);
  }

 private:
  Result<void> choose_compute_type() {
    bool is_double = false;
    for (const Param& param : plan_.params) {
      MIRAGE_TRY_VOID(check_storage(param.dtype, param.name));
      is_double |= param.dtype == ir::DType::F64;
    }
    for (const Op& op : block_.ops)
      if (ir::def(op.kind).form != Form::Leaf)
        for (ValueId result : op.results) is_double |= block_.type(result).dtype == ir::DType::F64;
    plan_.compute = is_double ? ir::DType::F64 : ir::DType::F32;
    return {};
  }

  // ---- places ----

  const Lengths& lengths_of(ValueId value) const { return tiles_.values[value.index]; }

  Operand new_scratch(std::string name, const Lengths& lengths) {
    ir::Shape shape;
    for (const Length& length : lengths) shape.push_back(length.max);
    Operand operand;
    operand.index = plan_.scratch.size();
    operand.dtype = plan_.compute;
    operand.lengths = lengths;
    operand.strides = ir::row_major_strides(shape);
    plan_.scratch.push_back(
        {std::move(name), plan_.compute, std::max<int64_t>(ir::element_count(shape), 1)});
    return operand;
  }

  std::string name_for(ValueId value) const {
    const std::string& name = block_.value(value).name;
    return name.empty() ? fmt::format("v{}", value.index) : name;
  }

  Operand new_value(ValueId value) { return new_scratch(name_for(value), lengths_of(value)); }

  /// A parameter's tile at this grid point and loop step.
  Operand param_tile(size_t index, const ir::Bind& bind, const Lengths& lengths) const {
    const Param& param = plan_.params[index];
    Operand operand{Space::Param, index, param.dtype, 0, {}, lengths, param.strides};
    operand.moves = tile_moves(param, bind, block_.launch);
    return operand;
  }

  Operand store_place(const Op& store) const {
    const ValueId result = store.results[0];
    const size_t index = plan_.first_output + store_param_.at(result.index);
    return param_tile(index, store.attrs.bind, tiles_.stores[result.index]);
  }

  /// Where a step writes a value: the result itself if all that happens to the value is a store.
  Operand destination(ValueId value, bool needs_rows) {
    if (fusion_.uses[value.index] == 1) {
      const Op& user = block_.op(fusion_.user[value.index]);
      if (user.kind == OpKind::Store) {
        Operand place = store_place(user);
        if (!needs_rows || place.strides.back() == 1 || place.lengths.back().max == 1) {
          is_stored_[user.results[0].index] = true;
          return views_[value.index].emplace(std::move(place));
        }
      }
    }
    return views_[value.index].emplace(new_value(value));
  }

  const Operand& view(ValueId value) const {
    MIRAGE_CHECK(views_[value.index].has_value(), "a step reads a value that no memory holds");
    return *views_[value.index];
  }

  static Operand broadcast(Operand operand, const Lengths& lengths) {
    operand.strides = broadcast_strides(operand.lengths, operand.strides, lengths);
    operand.lengths = lengths;
    return operand;
  }

  // ---- steps ----

  std::vector<Step>& section(Phase phase) {
    return phase == Phase::Invariant ? plan_.prologue
           : phase == Phase::InLoop  ? plan_.loop
                                     : plan_.epilogue;
  }

  std::string label(const Op& op) const {
    std::string text = fmt::format("%{} = {}", name_for(op.results[0]), ir::def(op.kind).name);
    for (ValueId operand : op.operands) text += fmt::format(" %{}", name_for(operand));
    return text;
  }

  void fill(const Operand& place, double value, Phase phase) {
    Step step{StepKind::Fill};
    for (const Length& length : place.lengths) step.lengths.push_back({length.max, -1});
    step.out = {place};
    step.value = value;
    section(phase).push_back(std::move(step));
  }

  void copy(const Operand& from, const Operand& to, Phase phase, std::string text) {
    Step step{StepKind::Copy};
    step.lengths = to.lengths;
    step.in = {from};
    step.out = {to};
    step.label = std::move(text);
    section(phase).push_back(std::move(step));
  }

  std::optional<double> extent_value(const Op& op) const {
    const Length& length = lengths_of(op.operands[0])[static_cast<size_t>(op.attrs.axis)];
    if (length.ragged >= 0) return std::nullopt;
    return static_cast<double>(length.max);
  }

  ThreadGraph thread_graph() const {
    return ThreadGraph(block_, fusion_, plan_.compute,
                       [this](const Op& op) { return extent_value(op); });
  }

  /// Finishes a Map or Reduce step: inputs of the thread graph become operands over `lengths`.
  Result<Step> close(StepKind kind, ThreadGraph& graph, ValueId root, const Lengths& lengths,
                     const std::vector<Operand>& extras) {
    Step step{kind};
    step.lengths = lengths;
    size_t extra = 0;
    for (ValueId input : graph.inputs)
      step.in.push_back(broadcast(input.is_valid() ? view(input) : extras[extra++], lengths));
    if (graph.builder.draft().ops.empty()) return step;  // the value itself
    const ValueId roots[] = {root};
    MIRAGE_TRY(step.body, graph.builder.finish(roots));
    return step;
  }

  Result<void> map(const Op& op, ValueId value, const Operand& to, Phase phase) {
    ThreadGraph graph = thread_graph();
    MIRAGE_TRY(const ValueId root, graph.value(value, true));
    MIRAGE_TRY(Step step, close(StepKind::Map, graph, root, to.lengths, {}));
    if (!step.body) step.kind = StepKind::Copy;
    step.out = {to};
    step.label = label(op);
    section(phase).push_back(std::move(step));
    return {};
  }

  /// to = combination of `value` over an axis, or of that and what `to` holds.
  Result<void> reduce(const Op& op, ValueId value, int64_t axis, Combine combine, Operand to,
                      bool accumulate, Phase phase) {
    ThreadGraph graph = thread_graph();
    MIRAGE_TRY(const ValueId root, graph.value(value));
    MIRAGE_TRY(Step step, close(StepKind::Reduce, graph, root, lengths_of(value), {}));
    step.out = {std::move(to)};
    step.axis = axis;
    step.combine = combine;
    step.accumulate = accumulate;
    step.is_gauge = op.kind == OpKind::GaugeMax;
    step.label = label(op);
    section(phase).push_back(std::move(step));
    return {};
  }

  /// B as the product kernels read it: contiguous along k or along n, packed if it is neither.
  Operand with_unit_stride(const Operand& b, std::string name, Phase phase) {
    const size_t n = b.lengths.size() - 1, k = n - 1;
    const bool is_readable = b.strides[n] == 1 || b.strides[k] == 1 || b.lengths[n] == Length{} ||
                             b.lengths[k] == Length{};
    if (is_readable) return b;
    Operand packed = new_scratch(name + "_packed", b.lengths);
    copy(b, packed, phase, fmt::format("%{} packed", name));
    return packed;
  }

  void matmul(const Op& op, Operand to, bool accumulate, Phase phase) {
    Step step{StepKind::MatMul};
    const Operand& lhs = view(op.operands[0]);
    step.lengths = lengths_of(op.results[0]);
    step.lengths.push_back(lhs.lengths.back());
    step.in = {lhs, with_unit_stride(view(op.operands[1]), name_for(op.operands[1]), phase)};
    step.out = {std::move(to)};
    step.accumulate = accumulate;
    step.label = label(op);
    section(phase).push_back(std::move(step));
  }

  /// state = state (op) x elementwise, or state * r [+ x].
  Result<void> update(const Op& op, const Operand& state, bool adds) {
    ThreadGraph graph = thread_graph();
    MIRAGE_TRY(ValueId root, graph.extra_input(block_.type(op.results[0]).shape));
    if (op.kind == OpKind::AccumRescale) {
      MIRAGE_TRY(const ValueId factor, graph.value(op.operands[1]));
      MIRAGE_TRY(root, graph.builder.add(OpKind::Mul, {root, factor}));
    }
    if (adds) {
      MIRAGE_TRY(const ValueId x, graph.value(op.operands[0]));
      const bool is_max = op.attrs.combine == Combine::Max;
      MIRAGE_TRY(root, graph.builder.add(is_max ? OpKind::Maximum : OpKind::Add, {root, x}));
    }
    // A tile shorter than the state adds to its front.
    const Lengths& lengths = op.kind == OpKind::Accum ? lengths_of(op.operands[0]) : state.lengths;
    MIRAGE_TRY(Step step, close(StepKind::Map, graph, root, lengths, {state}));
    step.out = {state};
    step.label = label(op);
    plan_.loop.push_back(std::move(step));
    return {};
  }

  Result<void> accumulate(const Op& op) {
    const ValueId x = op.operands[0];
    const bool is_max = op.attrs.combine == Combine::Max;
    Operand state = new_value(op.results[0]);
    fill(state, is_max ? -kInfinity : 0, Phase::Invariant);
    const bool is_fused = fusion_.is_accumulated[x.index];
    if (op.kind == OpKind::AccumRescale || !is_fused) MIRAGE_TRY_VOID(update(op, state, !is_fused));
    if (is_fused) {
      const Op& part = *block_.def_of(x);
      if (part.kind == OpKind::MatMul) {
        matmul(part, state, true, Phase::InLoop);
      } else {
        MIRAGE_TRY_VOID(reduce(part, part.operands[0], part.attrs.axis, ir::def(part.kind).combine,
                               state, true, Phase::InLoop));
      }
    }
    if (op.attrs.combine == Combine::Mean) {
      ThreadGraph graph = thread_graph();
      MIRAGE_TRY(ValueId root, graph.extra_input(block_.type(op.results[0]).shape));
      MIRAGE_TRY(const ValueId steps,
                 graph.builder.constant(static_cast<double>(plan_.loop_steps())));
      MIRAGE_TRY(root, graph.builder.add(OpKind::Div, {root, steps}));
      MIRAGE_TRY(Step step, close(StepKind::Map, graph, root, state.lengths, {state}));
      step.out = {state};
      step.label = label(op);
      plan_.epilogue.push_back(std::move(step));
    }
    views_[op.results[0].index] = std::move(state);
    return {};
  }

  Result<void> running(const Op& op) {
    const Operand part = new_scratch(name_for(op.results[0]) + "_step", lengths_of(op.results[0]));
    const Operand raw = new_scratch(name_for(op.results[0]) + "_raw", lengths_of(op.results[0]));
    fill(raw, -kInfinity, Phase::Invariant);
    MIRAGE_TRY_VOID(
        reduce(op, op.operands[0], op.attrs.axis, Combine::Max, part, false, Phase::InLoop));
    Step step{StepKind::Running};
    step.lengths = lengths_of(op.results[0]);
    step.in = {part};
    step.is_gauge = op.kind == OpKind::RunningGauge;
    for (ValueId result : op.results)
      step.out.push_back(views_[result.index].emplace(new_value(result)));
    step.out.push_back(raw);
    step.label = label(op);
    plan_.loop.push_back(std::move(step));
    return {};
  }

  Result<void> store(const Op& op) {
    if (is_stored_[op.results[0].index]) return {};
    const ValueId value = op.operands[0];
    const Operand place = store_place(op);
    const Op* source = block_.def_of(value);
    if (source && ir::def(source->kind).form == Form::Leaf && !views_[value.index]) {
      const std::optional<double> constant =
          source->kind == OpKind::Const ? source->attrs.scalars[0] : extent_value(*source);
      fill(place, constant.value_or(0), Phase::AfterLoop);
    } else if (fusion_.is_inlined[value.index]) {
      MIRAGE_TRY_VOID(map(op, value, place, Phase::AfterLoop));
    } else {
      copy(view(value), place, Phase::AfterLoop, label(op));
    }
    return {};
  }

  void move(const Op& op, Phase phase) {
    const ValueId result = op.results[0];
    const Lengths& lengths = lengths_of(result);
    if (op.kind == OpKind::Concat) {
      const Operand whole = destination(result, false);
      int64_t at = 0;
      for (ValueId part : op.operands) {
        const size_t axis = static_cast<size_t>(op.attrs.axis);
        Operand place = whole;
        place.lengths = lengths_of(part);
        place.offset += at * whole.strides[axis];
        at += block_.type(part).shape[axis];
        copy(view(part), place, phase, label(op));
      }
      return;
    }
    const Operand& from = view(op.operands[0]);
    Operand to = from;
    to.lengths = lengths;
    if (op.kind == OpKind::Transpose) {
      for (size_t i = 0; i < lengths.size(); ++i)
        to.strides[i] = from.strides[static_cast<size_t>(op.attrs.ints[i])];
    } else if (op.kind == OpKind::Narrow) {
      to.offset += op.attrs.ints[0] * from.strides[static_cast<size_t>(op.attrs.axis)];
    } else {
      ir::Shape shape;
      for (const Length& length : from.lengths) shape.push_back(length.max);
      auto strides = reshaped_strides(shape, from.strides, op.attrs.ints);
      if (!strides) {
        const Operand packed = new_scratch(name_for(result), from.lengths);
        copy(from, packed, phase, label(op));
        to = packed;
        to.lengths = lengths;
        strides = reshaped_strides(shape, packed.strides, op.attrs.ints);
        MIRAGE_CHECK(strides.has_value(), "a packed tile reshapes without a copy");
      }
      to.strides = std::move(*strides);
    }
    views_[result.index] = std::move(to);
  }

  Result<void> visit(const Op& op) {
    const ValueId result = op.results[0];
    const Phase phase = phases_[result.index];
    switch (ir::def(op.kind).form) {
      case Form::Leaf:
        if (op.kind == OpKind::Extent && !extent_value(op)) {
          Step step{StepKind::Count};
          step.lengths = {lengths_of(op.operands[0])[static_cast<size_t>(op.attrs.axis)]};
          step.out = {views_[result.index].emplace(new_scratch(name_for(result), {}))};
          // A length may change with the loop although its phase says nothing of it.
          section(phases_[op.operands[0].index]).push_back(std::move(step));
        }
        return {};
      case Form::Map:
        if (fusion_.is_inlined[result.index]) return {};
        return map(op, result, destination(result, false), phase);
      case Form::Reduce:
        if (fusion_.is_accumulated[result.index]) return {};
        return reduce(op, op.operands[0], op.attrs.axis, ir::def(op.kind).combine,
                      destination(result, false), false, phase);
      case Form::Contract:
        if (!fusion_.is_accumulated[result.index])
          matmul(op, destination(result, true), false, phase);
        return {};
      case Form::Move:
        if (op.kind == OpKind::Load) {
          const auto index = std::find(block_.inputs.begin(), block_.inputs.end(), op.operands[0]) -
                             block_.inputs.begin();
          views_[result.index] =
              param_tile(static_cast<size_t>(index), op.attrs.bind, lengths_of(result));
          return {};
        }
        if (op.kind == OpKind::Store) return store(op);
        move(op, phase);
        return {};
      case Form::Accum:
        if (op.kind == OpKind::RunningMax || op.kind == OpKind::RunningGauge) return running(op);
        return accumulate(op);
      case Form::Block:
        break;
    }
    return unsupported("{}: no such operator inside a block", ir::def(op.kind).name);
  }

  // ---- memory ----

  Result<void> plan_scratch() {
    std::vector<bool> is_used(plan_.scratch.size(), false);
    const size_t loop_begin = plan_.prologue.size(), loop_end = loop_begin + plan_.loop.size();
    size_t at = 0;
    for (const auto* steps : {&plan_.prologue, &plan_.loop, &plan_.epilogue})
      for (const Step& step : *steps) {
        for (const auto* operands : {&step.in, &step.out})
          for (const Operand& operand : *operands) {
            if (operand.space != Space::Scratch) continue;
            Scratch& scratch = plan_.scratch[operand.index];
            if (!is_used[operand.index]) scratch.first = at;
            is_used[operand.index] = true;
            scratch.last = at;
          }
        ++at;
      }
    std::vector<bool> is_in_registers(plan_.scratch.size(), plan_.rows.has_value());
    if (plan_.pipeline)
      for (const Register& entry : plan_.pipeline->registers)
        is_in_registers[entry.scratch] = !entry.is_read_after;
    std::vector<Lifetime> lifetimes;
    for (size_t i = 0; i < plan_.scratch.size(); ++i) {
      Scratch& scratch = plan_.scratch[i];
      // What lives before the loop is read again in the next step.
      if (scratch.first < loop_begin && scratch.last >= loop_begin && scratch.last < loop_end)
        scratch.last = loop_end - 1;
      const int64_t elements = is_in_registers[i] ? 0 : scratch.elements;
      lifetimes.push_back({elements * ir::bytes_of(scratch.dtype), scratch.first, scratch.last});
    }
    MIRAGE_TRY(const MemoryPlan memory, plan_memory(lifetimes));
    for (size_t i = 0; i < plan_.scratch.size(); ++i) plan_.scratch[i].offset = memory.offsets[i];
    plan_.scratch_bytes = memory.bytes;
    return {};
  }

  const ir::Graph& block_;
  const Target& target_;
  std::vector<Phase> phases_;
  Fusion fusion_;
  TileLengths tiles_;
  KernelPlan plan_;
  std::vector<std::optional<Operand>> views_;  // by ValueId
  std::map<uint32_t, size_t> store_param_;     // result of a store -> output
  std::map<uint32_t, bool> is_stored_;
};

}  // namespace

Result<void> check_storage(ir::DType dtype, std::string_view what) {
  switch (dtype) {
    case ir::DType::F64:
    case ir::DType::F32:
    case ir::DType::BF16:
    case ir::DType::F16:
      return {};
    default:
      return unsupported("{}: no arithmetic on {}", what, name_of(dtype));
  }
}

Result<KernelPlan> lower_block(const ir::GraphPtr& block, std::vector<Param> inputs,
                               std::vector<Param> outputs, std::string name, const Target& target) {
  MIRAGE_TRY(
      KernelPlan plan,
      BlockLowering(*block, std::move(inputs), std::move(outputs), std::move(name), target).run());
  plan.block = block;
  return plan;
}

}  // namespace mirage::lower
