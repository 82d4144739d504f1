#include "codegen/cpu/steps.h"

#include <fmt/ranges.h>

#include <array>

#include "codegen/cpu/loops.h"
#include "codegen/cpu/spell.h"
#include "util/check.h"

namespace mirage::codegen::cpu {
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

std::string text(const Length& length) {
  return length.ragged < 0 ? fmt::format("{}", length.max) : ragged_name(length.ragged);
}

/// Rows as gemm takes them: a constant type where they are known, which picks the register tile.
std::string extent(const Length& length) {
  return length.ragged < 0 && length.max > 0 ? fmt::format("kExtent<{}>", length.max)
                                             : text(length);
}

std::string index_name(size_t loop) { return fmt::format("i{}", loop); }

/// The address of an operand inside the loops of its step, whose strides are `outer`.
std::string address(const KernelPlan& plan, const Operand& operand,
                    const std::vector<int64_t>& outer = {}) {
  std::string result = operand.space == Space::Param ? param_name(plan, operand.index)
                                                     : scratch_name(plan, operand.index);
  if (operand.offset) result += fmt::format(" + {}", operand.offset);
  for (const lower::AxisStride& move : operand.moves)
    result += fmt::format(" + {} * {}", axis_name(plan, move.axis), move.stride);
  for (size_t i = 0; i < outer.size(); ++i)
    if (outer[i]) result += fmt::format(" + {} * {}", index_name(i), outer[i]);
  return result;
}

/// What to add to the operand's address for the next step of the innermost loop.
std::string to_next_step(const KernelPlan& plan, const Operand& operand) {
  for (size_t axis = plan.launch.axes.size(); axis-- > 0;) {
    if (plan.launch.axes[axis].role != ir::Role::Loop) continue;
    for (const lower::AxisStride& move : operand.moves)
      if (move.axis == axis)
        return fmt::format(" + ({} + 1 < {} ? {} : 0)", axis_name(plan, move.axis),
                           plan.launch.axes[axis].trips, move.stride);
    break;
  }
  return "";
}

std::vector<int64_t> strides_of(const std::vector<LoopAxis>& outer, size_t operand) {
  std::vector<int64_t> strides;
  for (const LoopAxis& axis : outer) strides.push_back(axis.strides[operand]);
  return strides;
}

void open_loops(Writer& out, const std::vector<LoopAxis>& outer) {
  for (size_t i = 0; i < outer.size(); ++i)
    out.open("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", index_name(i), text(outer[i].length));
}

void close_loops(Writer& out, const std::vector<LoopAxis>& outer) {
  for (size_t i = 0; i < outer.size(); ++i) out.close();
}

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
std::vector<std::string> lambda_lines(const Step& step) {
  if (!step.body) return {"[](V x) { return x; }"};
  const ir::Graph& body = *step.body;
  std::vector<std::string> names(body.values.size());
  std::vector<std::string> params;
  for (ir::ValueId input : body.inputs) {
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
    name = fmt::format("v{}", op.results[0].index);
    lines.push_back(fmt::format("  const V {} = {};", name, map_text(op.kind, op.attrs, operands)));
  }
  lines.push_back(fmt::format("  return {};", names[body.outputs[0].index]));
  lines.push_back("}");
  return lines;
}

/// `head(`, the lambda, and the streams of the inputs as arguments of one call.
void emit_call(Writer& out, const std::string& head, const Step& step,
               const std::vector<std::string>& streams) {
  const std::vector<std::string> lambda = lambda_lines(step);
  std::string tail;
  for (const std::string& one : streams) tail += ", " + one;
  if (lambda.size() == 1) {
    out.raw(fmt::format("{}, {}{});", head, lambda[0], tail));
    return;
  }
  out.raw(fmt::format("{}, {}", head, lambda[0]));
  for (size_t i = 1; i + 1 < lambda.size(); ++i) out.raw("    " + lambda[i]);
  out.raw(fmt::format("    }}{});", tail));
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
             text(nest.row.length), text(nest.col.length),
             address(plan, step.in[0], strides_of(nest.outer, 1)), nest.row.strides[1],
             nest.col.strides[1], to, nest.row.strides[0], nest.col.strides[0]);
  } else {
    std::vector<std::string> streams;
    for (size_t i = 0; i < step.in.size(); ++i)
      streams.push_back(stream(address(plan, step.in[i], strides_of(nest.outer, i + 1)),
                               nest.row.strides[i + 1], nest.col.strides[i + 1], is_col_one));
    emit_call(out,
              fmt::format("map_rows<V>({}, {}, {}", text(nest.row.length), text(nest.col.length),
                          output_stream(to, nest.row.strides[0], nest.col.strides[0])),
              step, streams);
  }
  close_loops(out, nest.outer);
}

void emit_fill(Writer& out, const KernelPlan& plan, const Step& step) {
  const LoopNest nest = elementwise_nest(step.lengths, {&step.out[0].strides});
  open_loops(out, nest.outer);
  out.line("fill_tile<V>({}, {}, Tile{{{}, {}, {}}}, {});", text(nest.row.length),
           text(nest.col.length), address(plan, step.out[0], strides_of(nest.outer, 0)),
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
  const std::string divisor =
      step.combine == ir::Combine::Mean ? fmt::format("T({})", text(step.lengths[axis])) : "1";
  emit_call(out,
            fmt::format("reduce_chain_{}<V, {}>({}, {}, {}, {}, Finish<T>{{{}, {}, {}}}",
                        nest.along_cols ? "rows" : "cols", is_max ? "ChainMax" : "ChainSum",
                        text(row.length), text(col.length),
                        address(plan, step.out[0], strides_of(nest.outer, 0)), nest.kept.strides[0],
                        divisor, step.accumulate, step.is_gauge),
            step, streams);
  close_loops(out, nest.outer);
}

void emit_matmul(Writer& out, const KernelPlan& plan, const Step& step) {
  const size_t rank = step.out[0].lengths.size();
  const Length m = step.lengths[rank - 2], n = step.lengths[rank - 1], k = step.lengths[rank];
  const Operand &lhs = step.in[0], &rhs = step.in[1], &result = step.out[0];
  std::vector<LoopAxis> outer;
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (step.lengths[i] == Length{}) continue;
    const auto stride = [&](const Operand& operand) {
      return operand.lengths[i] == Length{} ? 0 : operand.strides[i];
    };
    outer.push_back({step.lengths[i], {stride(result), stride(lhs), stride(rhs)}});
  }
  const auto row_stride = [&](const Operand& operand) { return operand.strides[rank - 2]; };
  const auto col_stride = [&](const Operand& operand) { return operand.strides[rank - 1]; };
  const auto b_view = [&](const Operand& operand, const std::string& at, bool has_rows_of_n,
                          int64_t stride) {
    if (!has_rows_of_n) return fmt::format("NByK{{{}, {}}}", at, stride);
    return fmt::format("KByN{{{0}, {1}, {0}{2}}}", at, stride, to_next_step(plan, operand));
  };
  const auto is_row_major = [&](const Operand& operand) {
    return operand.dtype == plan.compute && col_stride(operand) == 1 && row_stride(operand) > 0;
  };
  const bool is_library = step.is_library && is_row_major(lhs) && is_row_major(rhs) &&
                          is_row_major(result) && !step.accumulate;
  open_loops(out, outer);
  const std::string a = fmt::format("as_const({})", address(plan, lhs, strides_of(outer, 1)));
  const std::string b = fmt::format("as_const({})", address(plan, rhs, strides_of(outer, 2)));
  const std::string c = address(plan, result, strides_of(outer, 0));
  const std::string start = step.accumulate ? "Start::FromC" : "Start::Zero";
  const bool n_is_one = n == Length{}, k_is_one = k == Length{};
  const bool swaps = n_is_one && (row_stride(result) == 1 || m == Length{}) &&
                     (row_stride(lhs) == 1 || col_stride(lhs) == 1 || k_is_one);
  if (is_library) {  // row-major, nothing transposed
    out.line("if ({0}) {0}(101, 111, 111, {1}, {2}, {3}, 1, {4}, {5}, {6}, {7}, 0, {8}, {9});",
             plan.compute == ir::DType::F64 ? "mirage_dgemm" : "mirage_sgemm", text(m), text(n),
             text(k), a, row_stride(lhs), b, row_stride(rhs), c, row_stride(result));
    out.raw("else");
  }
  if (swaps) {  // a column: the row vector b times a transposed
    const bool has_rows = row_stride(lhs) == 1;
    out.line("gemm<T, Isa>(kExtent<1>, {}, {}, Tile{{{}, 0, {}}}, {}, {}, 0, workspace, {});",
             text(m), text(k), b, row_stride(rhs),
             b_view(lhs, a, has_rows, has_rows ? col_stride(lhs) : row_stride(lhs)), c, start);
  } else {
    const bool has_rows = n_is_one || col_stride(rhs) == 1;
    out.line("gemm<T, Isa>({}, {}, {}, Tile{{{}, {}, {}}}, {}, {}, {}, workspace, {});", extent(m),
             text(n), text(k), a, row_stride(lhs), col_stride(lhs),
             b_view(rhs, b, has_rows, has_rows ? row_stride(rhs) : col_stride(rhs)), c,
             row_stride(result), start);
  }
  close_loops(out, outer);
}

void emit_count(Writer& out, const KernelPlan& plan, const Step& step) {
  out.line("*({}) = T({});", address(plan, step.out[0]), text(step.lengths[0]));
}

void emit_running(Writer& out, const KernelPlan& plan, const Step& step) {
  std::string count = "1";
  for (const Length& length : step.lengths)
    if (length != Length{}) count += fmt::format(" * {}", length.max);
  out.line("running_update<T>({}, {}, {}, {}, {}, is_first, {});", count, address(plan, step.in[0]),
           address(plan, step.out[0]), address(plan, step.out[1]), address(plan, step.out[2]),
           step.is_gauge);
}

using EmitStep = void (*)(Writer&, const KernelPlan&, const Step&);
// By StepKind.
constexpr std::array<EmitStep, 7> kEmit = {emit_fill,        emit_count,  emit_elementwise,
                                           emit_elementwise, emit_reduce, emit_matmul,
                                           emit_running};

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

void emit_step(Writer& out, const KernelPlan& plan, const Step& step) {
  if (!step.label.empty()) out.line("// {}", step.label);
  kEmit[static_cast<size_t>(step.kind)](out, plan, step);
}

}  // namespace mirage::codegen::cpu
