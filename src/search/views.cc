#include "search/views.h"

#include <optional>
#include <string>

#include "ir/builder.h"

namespace mirage::search {
namespace {

using ir::OpId;
using ir::OpKind;
using ir::Strides;
using ir::ValueId;

/// By value: its strides where it is an input or a view of one.
class Placed {
 public:
  explicit Placed(const ir::Graph& program) : strides_(program.values.size()) {
    for (size_t i = 0; i < program.inputs.size(); ++i)
      strides_[program.inputs[i].index] = program.input_strides[i];
  }

  /// Whether the operator makes a view, which is placed then.
  bool place(const ir::Graph& program, const ir::Op& op) {
    if (op.kind != OpKind::Narrow && op.kind != OpKind::Reshape) return false;
    const std::optional<Strides>& from = strides_[op.operands[0].index];
    if (!from) return false;
    const Strides row_major = ir::row_major_strides(program.type(op.operands[0]).shape);
    std::optional<Strides>& to = strides_[op.results[0].index];
    if (op.kind == OpKind::Narrow)
      to = from->empty() ? row_major : *from;
    else if (from->empty() || *from == row_major)
      to.emplace();
    return to.has_value();
  }

  const Strides& strides(ValueId id) const { return *strides_[id.index]; }

 private:
  std::vector<std::optional<Strides>> strides_;
};

}  // namespace

Result<ViewedProgram> with_views_as_inputs(const ir::Graph& program) {
  ViewedProgram result;
  Placed placed(program);
  std::vector<bool> is_view(program.values.size(), false), is_read(program.values.size(), false);
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const ir::Op& op = program.ops[i];
    if (placed.place(program, op)) {
      is_view[op.results[0].index] = true;
      result.views.emplace_back(i);
      continue;
    }
    for (ValueId operand : op.operands) is_read[operand.index] = true;
  }
  if (result.views.empty()) {
    result.program = program;
    result.sources = program.inputs;
    return result;
  }
  if (result.views.size() == program.ops.size())
    return unsupported("search: every output is an input or a view of one");
  for (ValueId output : program.outputs) is_read[output.index] = true;

  ir::GraphBuilder builder;
  builder.set_name(program.name);
  std::vector<ValueId> values(program.values.size());
  const auto add_input = [&](ValueId id) -> Result<void> {
    if (!is_read[id.index]) return {};
    MIRAGE_TRY(values[id.index],
               builder.input(program.type(id), program.value(id).name, placed.strides(id)));
    result.sources.push_back(id);
    return {};
  };
  for (ValueId input : program.inputs) MIRAGE_TRY_VOID(add_input(input));
  for (OpId view : result.views) MIRAGE_TRY_VOID(add_input(program.op(view).results[0]));
  for (const ir::Op& op : program.ops) {
    if (is_view[op.results[0].index]) continue;
    std::vector<ValueId> operands;
    for (ValueId operand : op.operands) operands.push_back(values[operand.index]);
    MIRAGE_TRY(const auto results, builder.add_all(op.kind, operands, op.attrs));
    for (size_t k = 0; k < results.size(); ++k) {
      values[op.results[k].index] = results[k];
      const std::string& name = program.value(op.results[k]).name;
      if (!name.empty()) builder.name_value(results[k], name);
    }
  }
  std::vector<ValueId> outputs;
  for (ValueId output : program.outputs) outputs.push_back(values[output.index]);
  MIRAGE_TRY(const ir::GraphPtr graph, builder.finish(outputs, program.output_strides));
  result.program = *graph;
  return result;
}

}  // namespace mirage::search
