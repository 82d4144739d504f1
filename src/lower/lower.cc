#include "lower/lower.h"

#include <algorithm>
#include <optional>

#include "lower/block.h"
#include "lower/gauge.h"
#include "lower/memory_plan.h"
#include "lower/operators.h"
#include "lower/views.h"

namespace mirage::lower {
namespace {

using ir::Form;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

class KernelLowering {
 public:
  KernelLowering(const ir::Graph& graph, const Target& target, const LowerOptions& options)
      : graph_(graph), options_(options), places_(graph.values.size()) {
    program_.target = target;
    program_.name = graph.name;
    program_.graph_hash = graph.hash;
  }

  Result<Program> run() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const ValueId input = graph_.inputs[i];
      const ir::TensorType& type = graph_.type(input);
      MIRAGE_TRY_VOID(check_storage(type.dtype, fmt::format("input %{}", name_for(input))));
      ir::Strides strides = graph_.input_strides[i];
      if (strides.empty()) strides = ir::row_major_strides(type.shape);
      places_[input.index] = add_buffer({BufferKind::Input, i, type.dtype}, type.shape, strides);
      program_.inputs.push_back(type);
      program_.input_strides.push_back(std::move(strides));
      program_.input_names.push_back(graph_.value(input).name);
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const ir::TensorType& type = graph_.type(graph_.outputs[i]);
      MIRAGE_TRY_VOID(check_storage(type.dtype, fmt::format("output {}", i)));
      ir::Strides strides = graph_.output_strides[i];
      if (strides.empty()) strides = ir::row_major_strides(type.shape);
      outputs_.push_back(add_buffer({BufferKind::Output, i, type.dtype}, type.shape, strides));
      program_.outputs.push_back(type);
      program_.output_strides.push_back(std::move(strides));
    }
    is_written_.assign(graph_.outputs.size(), false);
    for (const Op& op : graph_.ops) MIRAGE_TRY_VOID(visit(op));
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (is_written_[i]) continue;
      MIRAGE_TRY(const Param value, place(graph_.outputs[i]));
      MIRAGE_TRY_VOID(copy(value, outputs_[i]));
    }
    MIRAGE_TRY_VOID(plan_workspace());
    return std::move(program_);
  }

 private:
  std::string name_for(ValueId value) const {
    const std::string& name = graph_.value(value).name;
    return name.empty() ? fmt::format("v{}", value.index) : name;
  }

  Param add_buffer(BufferPlan buffer, const ir::Shape& shape, const ir::Strides& strides) {
    program_.buffers.push_back(buffer);
    return {program_.buffers.size() - 1, buffer.dtype, 0, shape, strides, {}};
  }

  /// Memory for a value: the first output it is, else workspace.
  Param new_place(ValueId value) {
    const ir::TensorType& type = graph_.type(value);
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (graph_.outputs[i] != value) continue;
      is_written_[i] = true;
      return outputs_[i];
    }
    BufferPlan buffer{BufferKind::Workspace, 0, type.dtype};
    buffer.bytes = std::max<int64_t>(1, ir::element_count(type.shape)) * ir::bytes_of(type.dtype);
    return add_buffer(buffer, type.shape, ir::row_major_strides(type.shape));
  }

  std::optional<double> scalar(ValueId value) const {
    const Op* op = graph_.def_of(value);
    if (!op || ir::def(op->kind).form != Form::Leaf) return std::nullopt;
    if (op->kind == OpKind::Const) return op->attrs.scalars[0];
    return static_cast<double>(
        graph_.type(op->operands[0]).shape[static_cast<size_t>(op->attrs.axis)]);
  }

  /// Where a value is; scalar leaves get memory when somebody needs it.
  Result<Param> place(ValueId value) {
    std::optional<Param>& at = places_[value.index];
    if (!at) {
      at = new_place(value);
      MIRAGE_TRY(const ir::GraphPtr block, scalar_block(*scalar(value)));
      MIRAGE_TRY_VOID(launch(block, "scalar", {}, {*at}));
    }
    Param param = *at;
    param.name = name_for(value);
    return param;
  }

  Result<void> launch(const ir::GraphPtr& block, std::string_view what, std::vector<Param> inputs,
                      std::vector<Param> outputs) {
    const size_t number = program_.launches.size();
    for (Param& input : inputs)
      if (input.name.empty()) input.name = fmt::format("b{}", input.buffer);
    for (Param& output : outputs)
      if (output.name.empty()) output.name = fmt::format("b{}", output.buffer);
    MIRAGE_TRY(KernelPlan plan, lower_block(block, std::move(inputs), std::move(outputs),
                                            fmt::format("k{}_{}", number, what), program_.target));
    for (Step& step : plan.prologue) mark_library(step, what);
    for (Step& step : plan.epilogue) mark_library(step, what);
    program_.launches.push_back(std::move(plan));
    return {};
  }

  void mark_library(Step& step, std::string_view what) const {
    if (options_.may_use_blas && what == "matmul" && step.kind == StepKind::MatMul)
      step.is_library = true;
  }

  Result<void> copy(const Param& from, const Param& to) {
    MIRAGE_TRY(const ir::GraphPtr block, copy_block({from.dtype, from.shape}, program_.target));
    return launch(block, "copy", {from}, {to});
  }

  Result<void> visit(const Op& op) {
    const ValueId result = op.results[0];
    switch (ir::def(op.kind).form) {
      case Form::Leaf:
        return {};
      case Form::Move:
        return move(op);
      case Form::Block: {
        std::vector<Param> inputs, outputs;
        for (ValueId operand : op.operands) {
          MIRAGE_TRY(Param input, place(operand));
          inputs.push_back(std::move(input));
        }
        for (ValueId value : op.results) {
          outputs.push_back(places_[value.index].emplace(new_place(value)));
          outputs.back().name = name_for(value);
        }
        return launch(op.body, "block", std::move(inputs), std::move(outputs));
      }
      default: {
        std::vector<BlockOperand> operands;
        std::vector<Param> inputs;
        const bool is_map = ir::def(op.kind).form == Form::Map;
        for (ValueId operand : op.operands) {
          const std::optional<double> value = scalar(operand);
          operands.push_back({graph_.type(operand), is_map && value, value.value_or(0)});
          if (operands.back().is_scalar) continue;
          MIRAGE_TRY(Param input, place(operand));
          inputs.push_back(std::move(input));
        }
        MIRAGE_TRY(const ir::GraphPtr block,
                   as_block(op, operands, graph_.type(result), program_.target));
        Param output = places_[result.index].emplace(new_place(result));
        output.name = name_for(result);
        return launch(block, ir::def(op.kind).name, std::move(inputs), {std::move(output)});
      }
    }
  }

  Result<void> move(const Op& op) {
    const ValueId result = op.results[0];
    const ir::Shape& shape = graph_.type(result).shape;
    MIRAGE_TRY(Param from, place(op.operands[0]));
    from.name.clear();
    if (op.kind == OpKind::Concat) {
      const Param whole = places_[result.index].emplace(new_place(result));
      const size_t axis = static_cast<size_t>(op.attrs.axis);
      int64_t at = 0;
      for (ValueId operand : op.operands) {
        MIRAGE_TRY(const Param part, place(operand));
        Param to = whole;
        to.shape = part.shape;
        to.offset += at * whole.strides[axis];
        at += part.shape[axis];
        MIRAGE_TRY_VOID(copy(part, to));
      }
      return {};
    }
    Param to = from;
    to.shape = shape;
    if (op.kind == OpKind::Transpose) {
      for (size_t i = 0; i < shape.size(); ++i)
        to.strides[i] = from.strides[static_cast<size_t>(op.attrs.ints[i])];
    } else if (op.kind == OpKind::Narrow) {
      to.offset += op.attrs.ints[0] * from.strides[static_cast<size_t>(op.attrs.axis)];
    } else if (op.kind == OpKind::Reshape) {
      std::optional<ir::Strides> strides = reshaped_strides(from.shape, from.strides, shape);
      if (!strides) {
        BufferPlan buffer{BufferKind::Workspace, 0, from.dtype};
        buffer.bytes = std::max<int64_t>(1, ir::element_count(shape)) * ir::bytes_of(from.dtype);
        Param packed = add_buffer(buffer, from.shape, ir::row_major_strides(from.shape));
        MIRAGE_TRY_VOID(copy(from, packed));
        packed.shape = shape;
        packed.strides = ir::row_major_strides(shape);
        to = std::move(packed);
      } else {
        to.strides = std::move(*strides);
      }
    } else {
      return unsupported("{}: no such operator at kernel level", ir::def(op.kind).name);
    }
    places_[result.index] = std::move(to);
    return {};
  }

  Result<void> plan_workspace() {
    std::vector<size_t> used;  // workspace buffers
    for (size_t i = 0; i < program_.buffers.size(); ++i)
      if (program_.buffers[i].kind == BufferKind::Workspace) used.push_back(i);
    std::vector<bool> is_used(program_.buffers.size(), false);
    for (size_t at = 0; at < program_.launches.size(); ++at)
      for (const Param& param : program_.launches[at].params) {
        BufferPlan& buffer = program_.buffers[param.buffer];
        if (buffer.kind != BufferKind::Workspace) continue;
        if (!is_used[param.buffer]) buffer.first = at;
        is_used[param.buffer] = true;
        buffer.last = at;
      }
    std::vector<Lifetime> lifetimes;
    for (size_t i : used)
      lifetimes.push_back(
          {program_.buffers[i].bytes, program_.buffers[i].first, program_.buffers[i].last});
    MIRAGE_TRY(const MemoryPlan memory, plan_memory(lifetimes));
    for (size_t i = 0; i < used.size(); ++i) program_.buffers[used[i]].offset = memory.offsets[i];
    program_.workspace_bytes = memory.bytes;
    return {};
  }

  const ir::Graph& graph_;
  LowerOptions options_;
  Program program_;
  std::vector<std::optional<Param>> places_;  // by ValueId
  std::vector<Param> outputs_;
  std::vector<bool> is_written_;
};

}  // namespace

Result<Program> lower(const ir::GraphPtr& graph, const Target& target,
                      const LowerOptions& options) {
  if (graph->level != ir::Level::Kernel)
    return bad_input("expected a graph of kernel level, found {} level", name_of(graph->level));
  ir::GraphPtr safe = graph;
  if (options.make_safe) {
    MIRAGE_TRY(safe, make_safe(graph));
  }
  return KernelLowering(*safe, target, options).run();
}

}  // namespace mirage::lower
