#include "search/row_rules.h"

#include <algorithm>

namespace mirage::search {
namespace {

using ir::Form;
using ir::OpKind;

class RowRules {
 public:
  RowRules(const Structure& structure, const InRegisters& limits)
      : structure_(structure),
        problem_(*structure.problem),
        steps_(structure.plan.steps),
        limits_(limits) {}

  bool hold() {
    for (const StructureAxis& axis : structure_.axes)
      if (axis.role != ir::Role::Grid) return false;
    if (!find_columns()) return false;
    for (const StructureAxis& axis : structure_.axes)
      if (contains_class(axis.classes, columns_)) return false;
    return inputs_hold() &&
           std::all_of(steps_.begin(), steps_.end(), [&](const Step& s) { return holds(s); }) &&
           fits();
  }

 private:
  bool find_columns() {
    for (const Step& step : steps_) {
      if (def(step.kind).form != Form::Reduce) continue;
      const ClassId over = reduced_class(step.kind, step.attrs, steps_[step.args[0]].dims);
      if (over == kNoClass || (columns_ != kNoClass && over != columns_)) return false;
      columns_ = over;
    }
    return columns_ != kNoClass;
  }

  /// Columns are neighbours in memory.
  bool inputs_hold() const {
    const ir::Graph& program = problem_.program;
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      if (program.type(program.inputs[i]).dtype == ir::DType::F64) return false;
      const ir::Strides& strides = program.input_strides[i];
      if (!strides.empty() && strides.back() != 1) return false;
    }
    for (size_t i = 0; i < program.outputs.size(); ++i) {
      if (program.type(program.outputs[i]).dtype == ir::DType::F64) return false;
      const ir::Strides& strides = program.output_strides[i];
      if (!strides.empty() && strides.back() != 1) return false;
    }
    return true;
  }

  bool holds(const Step& step) const {
    switch (def(step.kind).form) {
      case Form::Leaf:
      case Form::Map:
      case Form::Reduce:
        break;
      default:
        if (step.kind != OpKind::Load) return false;
    }
    const bool has_columns = contains_class(step.dims, columns_);
    return !has_columns || step.dims.back() == columns_;
  }

  /// Counted as if all values were in registers at the same time.
  bool fits() const {
    int64_t bytes = 4;
    for (ir::ValueId input : problem_.program.inputs)
      bytes = std::min<int64_t>(bytes, ir::bytes_of(problem_.program.type(input).dtype));
    for (ir::ValueId target : problem_.targets)
      bytes = std::min<int64_t>(bytes, ir::bytes_of(problem_.program.type(target).dtype));
    const int64_t width = 16 / bytes;
    int64_t values = 0;
    for (const Step& step : steps_)
      if (contains_class(step.dims, columns_)) ++values;
    const int64_t chunks = limits_.registers / std::max<int64_t>(1, values * width);
    return problem_.extent_of(columns_) <= chunks * width * limits_.threads * limits_.blocks;
  }

  const Structure& structure_;
  const Problem& problem_;
  const std::vector<Step>& steps_;
  const InRegisters& limits_;
  ClassId columns_ = kNoClass;
};

}  // namespace

bool rows_fit_registers(const Structure& structure, const InRegisters& limits) {
  return RowRules(structure, limits).hold();
}

}  // namespace mirage::search
