#include "codegen/cpu/matmul.h"

#include "codegen/steps.h"

namespace mirage::codegen::cpu {
namespace {

using lower::KernelPlan;
using lower::Length;
using lower::Operand;
using lower::Step;

/// Rows as gemm takes them: a constant type where they are known, which picks the register tile.
std::string extent(const Length& length) {
  return length.ragged < 0 && length.max > 0 ? fmt::format("kExtent<{}>", length.max)
                                             : length_text(length);
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

}  // namespace

void emit_matmul(Writer& out, const KernelPlan& plan, const Step& step) {
  const size_t rank = step.out[0].lengths.size();
  const Length m = step.lengths[rank - 2], n = step.lengths[rank - 1], k = step.lengths[rank];
  const Operand &lhs = step.in[0], &rhs = step.in[1], &result = step.out[0];
  const std::vector<LoopAxis> outer = batch_loops(step);
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
             plan.compute == ir::DType::F64 ? "mirage_dgemm" : "mirage_sgemm", length_text(m),
             length_text(n), length_text(k), a, row_stride(lhs), b, row_stride(rhs), c,
             row_stride(result));
    out.raw("else");
  }
  if (swaps) {  // a column: the row vector b times a transposed
    const bool has_rows = row_stride(lhs) == 1;
    out.line("gemm<T, Isa>(kExtent<1>, {}, {}, Tile{{{}, 0, {}}}, {}, {}, 0, workspace, {});",
             length_text(m), length_text(k), b, row_stride(rhs),
             b_view(lhs, a, has_rows, has_rows ? col_stride(lhs) : row_stride(lhs)), c, start);
  } else {
    const bool has_rows = n_is_one || col_stride(rhs) == 1;
    out.line("gemm<T, Isa>({}, {}, {}, Tile{{{}, {}, {}}}, {}, {}, {}, workspace, {});", extent(m),
             length_text(n), length_text(k), a, row_stride(lhs), col_stride(lhs),
             b_view(rhs, b, has_rows, has_rows ? row_stride(rhs) : col_stride(rhs)), c,
             row_stride(result), start);
  }
  close_loops(out, outer);
}

}  // namespace mirage::codegen::cpu
