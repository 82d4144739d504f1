#include "codegen/steps.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/spell.h"
#include "util/check.h"

namespace mirage::codegen {
namespace {

using lower::KernelPlan;
using lower::Length;
using lower::Operand;
using lower::Space;
using lower::Step;
using lower::StepKind;

std::string identifier(const std::string& name) {
  std::string result;
  for (char c : name)
    result += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  return result;
}

std::string index_name(size_t loop) { return fmt::format("i{}", loop); }

/// A stream of map.h over rows and columns.
std::string stream(const std::string& at, int64_t row_stride, int64_t col_stride, bool is_col_one) {
  if (col_stride == 0 || is_col_one) return fmt::format("PerRow{{{}, {}}}", at, row_stride);
  if (col_stride == 1) return fmt::format("Contiguous{{{}, {}}}", at, row_stride);
  return fmt::format("Strided{{{}, {}, {}}}", at, row_stride, col_stride);
}

std::string output_stream(const std::string& at, int64_t row_stride, int64_t col_stride) {
  if (col_stride <= 1 && col_stride >= 0)
    return fmt::format("Contiguous{{{}, {}}}", at, row_stride);
  return fmt::format("Strided{{{}, {}, {}}}", at, row_stride, col_stride);
}

/// The thread graph as a lambda of vectors; the identity without one.
std::vector<std::string> lambda_lines(const Step& step, std::vector<bool> shared_inputs) {
  if (!step.body) return {"[](V x) { return x; }"};
  const ir::Graph& body = *step.body;
  std::vector<std::string> names(body.values.size());
  std::vector<bool> is_shared(body.values.size(), false);
  std::vector<std::string> params;
  shared_inputs.resize(body.inputs.size(), false);
  for (ir::ValueId input : body.inputs) {
    is_shared[input.index] = shared_inputs[params.size()];
    names[input.index] = fmt::format("x{}", params.size());
    params.push_back("V " + names[input.index]);
  }
  std::vector<std::string> lines = {fmt::format("[]({}) {{", fmt::join(params, ", "))};
  for (const ir::Op& op : body.ops) {
    std::string& name = names[op.results[0].index];
    if (op.kind == ir::OpKind::Const) {
      name = fmt::format("V({})", number(op.attrs.scalars[0]));
      continue;
    }
    std::vector<std::string> operands;
    for (ir::ValueId operand : op.operands) operands.push_back(names[operand.index]);
    const auto shares = [&](ir::ValueId operand) { return is_shared[operand.index]; };
    is_shared[op.results[0].index] = std::all_of(op.operands.begin(), op.operands.end(), shares);
    name = fmt::format("v{}", op.results[0].index);
    const bool is_quotient =
        op.kind == ir::OpKind::Div && shares(op.operands[1]) && !shares(op.operands[0]);
    lines.push_back(
        fmt::format("  const V {} = {};", name,
                    is_quotient ? fmt::format("shared_quotient({}, {})", operands[0], operands[1])
                                : map_text(op.kind, op.attrs, operands)));
  }
  lines.push_back(fmt::format("  return {};", names[body.outputs[0].index]));
  lines.push_back("}");
  return lines;
}

std::vector<const ir::Strides*> strides_of_all(const Step& step) {
  std::vector<const ir::Strides*> all = {&step.out[0].strides};
  for (const Operand& operand : step.in) all.push_back(&operand.strides);
  return all;
}

void emit_elementwise(Writer& out, const KernelPlan& plan, const Step& step) {
  const LoopNest nest = elementwise_nest(step.lengths, strides_of_all(step));
  const bool is_col_one = nest.col.length == Length{};
  open_loops(out, nest.outer);
  const std::string to = address(plan, step.out[0], strides_of(nest.outer, 0));
  if (step.kind == StepKind::Copy) {
    out.line("copy_tile<V>({}, {}, Tile{{as_const({}), {}, {}}}, Tile{{{}, {}, {}}});",
             length_text(nest.row.length), length_text(nest.col.length),
             address(plan, step.in[0], strides_of(nest.outer, 1)), nest.row.strides[1],
             nest.col.strides[1], to, nest.row.strides[0], nest.col.strides[0]);
  } else {
    std::vector<std::string> streams;
    for (size_t i = 0; i < step.in.size(); ++i)
      streams.push_back(stream(address(plan, step.in[i], strides_of(nest.outer, i + 1)),
                               nest.row.strides[i + 1], nest.col.strides[i + 1], is_col_one));
    emit_call(out,
              fmt::format("map_rows<V>({}, {}, {}, ", length_text(nest.row.length),
                          length_text(nest.col.length),
                          output_stream(to, nest.row.strides[0], nest.col.strides[0])),
              step, streams);
  }
  close_loops(out, nest.outer);
}

void emit_fill(Writer& out, const KernelPlan& plan, const Step& step) {
  const LoopNest nest = elementwise_nest(step.lengths, {&step.out[0].strides});
  open_loops(out, nest.outer);
  out.line("fill_tile<V>({}, {}, Tile{{{}, {}, {}}}, {});", length_text(nest.row.length),
           length_text(nest.col.length), address(plan, step.out[0], strides_of(nest.outer, 0)),
           nest.row.strides[0], nest.col.strides[0], number(step.value));
  close_loops(out, nest.outer);
}

void emit_reduce(Writer& out, const KernelPlan& plan, const Step& step) {
  ir::Strides to = step.out[0].strides;
  const size_t axis = static_cast<size_t>(step.axis);
  to[axis] = 0;
  std::vector<const ir::Strides*> operands = strides_of_all(step);
  operands[0] = &to;
  const ReduceNest nest = reduce_nest(step.lengths, axis, operands);
  const LoopAxis& row = nest.along_cols ? nest.kept : nest.reduced;
  const LoopAxis& col = nest.along_cols ? nest.reduced : nest.kept;
  open_loops(out, nest.outer);
  std::vector<std::string> streams;
  for (size_t i = 0; i < step.in.size(); ++i)
    streams.push_back(stream(address(plan, step.in[i], strides_of(nest.outer, i + 1)),
                             row.strides[i + 1], col.strides[i + 1], col.length == Length{}));
  const bool is_max = step.combine == ir::Combine::Max;
  const std::string divisor = step.combine == ir::Combine::Mean
                                  ? fmt::format("T({})", length_text(step.lengths[axis]))
                                  : "1";
  emit_call(out,
            fmt::format("reduce_chain_{}<V, {}>({}, {}, {}, {}, Finish<T>{{{}, {}, {}}}, ",
                        nest.along_cols ? "rows" : "cols", is_max ? "ChainMax" : "ChainSum",
                        length_text(row.length), length_text(col.length),
                        address(plan, step.out[0], strides_of(nest.outer, 0)), nest.kept.strides[0],
                        divisor, step.accumulate, step.is_gauge),
            step, streams);
  close_loops(out, nest.outer);
}

void emit_count(Writer& out, const KernelPlan& plan, const Step& step) {
  out.line("fill_tile<V>(1, 1, Tile{{{}, 0, 0}}, T({}));", address(plan, step.out[0]),
           length_text(step.lengths[0]));
}

void emit_running(Writer& out, const KernelPlan& plan, const Step& step) {
  std::string count = "1";
  for (const Length& length : step.lengths)
    if (length != Length{}) count += fmt::format(" * {}", length.max);
  out.line("running_update<T>({}, {}, {}, {}, {}, is_first, {});", count, address(plan, step.in[0]),
           address(plan, step.out[0]), address(plan, step.out[1]), address(plan, step.out[2]),
           step.is_gauge);
}

}  // namespace

std::string axis_name(const KernelPlan& plan, uint8_t axis) {
  return fmt::format("a{}_{}", axis, identifier(plan.launch.axes[axis].name));
}
std::string ragged_name(int ragged) { return fmt::format("length{}", ragged); }
std::string param_name(const KernelPlan& plan, size_t index) {
  return fmt::format("p{}_{}", index, identifier(plan.params[index].name));
}
std::string scratch_name(const KernelPlan& plan, size_t index) {
  return fmt::format("s{}_{}", index, identifier(plan.scratch[index].name));
}

std::string length_text(const Length& length) {
  return length.ragged < 0 ? fmt::format("{}", length.max) : ragged_name(length.ragged);
}

std::string address(const KernelPlan& plan, const Operand& operand,
                    const std::vector<int64_t>& outer) {
  std::string result = operand.space == Space::Param ? param_name(plan, operand.index)
                                                     : scratch_name(plan, operand.index);
  if (operand.offset) result += fmt::format(" + {}", operand.offset);
  for (const lower::AxisStride& move : operand.moves)
    result += fmt::format(" + {} * {}", axis_name(plan, move.axis), move.stride);
  for (size_t i = 0; i < outer.size(); ++i)
    if (outer[i]) result += fmt::format(" + {} * {}", index_name(i), outer[i]);
  return result;
}

void open_loops(Writer& out, const std::vector<LoopAxis>& outer) {
  for (size_t i = 0; i < outer.size(); ++i)
    out.open("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", index_name(i),
             length_text(outer[i].length));
}

void close_loops(Writer& out, const std::vector<LoopAxis>& outer) {
  for (size_t i = 0; i < outer.size(); ++i) out.close();
}

std::vector<int64_t> strides_of(const std::vector<LoopAxis>& outer, size_t operand) {
  std::vector<int64_t> strides;
  for (const LoopAxis& axis : outer) strides.push_back(axis.strides[operand]);
  return strides;
}

std::vector<LoopAxis> batch_loops(const Step& matmul) {
  const size_t rank = matmul.out[0].lengths.size();
  std::vector<LoopAxis> outer;
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (matmul.lengths[i] == Length{}) continue;
    const auto stride = [&](const Operand& operand) {
      return operand.lengths[i] == Length{} ? 0 : operand.strides[i];
    };
    outer.push_back(
        {matmul.lengths[i], {stride(matmul.out[0]), stride(matmul.in[0]), stride(matmul.in[1])}});
  }
  return outer;
}

void emit_call(Writer& out, const std::string& head, const Step& step,
               const std::vector<std::string>& arguments, const std::vector<bool>& shared) {
  const std::vector<std::string> lambda = lambda_lines(step, shared);
  std::string tail;
  for (const std::string& one : arguments) tail += ", " + one;
  if (lambda.size() == 1) {
    out.raw(fmt::format("{}{}{});", head, lambda[0], tail));
    return;
  }
  out.raw(head + lambda[0]);
  for (size_t i = 1; i + 1 < lambda.size(); ++i) out.raw("    " + lambda[i]);
  out.raw(fmt::format("    }}{});", tail));
}

void emit_step(Writer& out, const KernelPlan& plan, const Step& step, const Dialect& dialect) {
  if (!step.label.empty()) out.line("// {}", step.label);
  switch (step.kind) {
    case StepKind::Fill:
      return emit_fill(out, plan, step);
    case StepKind::Count:
      return emit_count(out, plan, step);
    case StepKind::Copy:
    case StepKind::Map:
      return emit_elementwise(out, plan, step);
    case StepKind::Reduce:
      return emit_reduce(out, plan, step);
    case StepKind::MatMul:
      return dialect.matmul(out, plan, step);
    case StepKind::Running:
      return emit_running(out, plan, step);
  }
}

}  // namespace mirage::codegen
