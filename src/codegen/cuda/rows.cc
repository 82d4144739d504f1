#include "codegen/cuda/rows.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "codegen/kernel.h"
#include "codegen/spell.h"
#include "codegen/steps.h"

namespace mirage::codegen {
namespace {

using lower::KernelPlan;
using lower::Length;
using lower::Operand;
using lower::RowLoad;
using lower::RowPlan;
using lower::RowSource;
using lower::RowStep;
using lower::Space;
using lower::Step;
using lower::StepKind;

class RowText {
 public:
  RowText(Writer& out, const KernelPlan& plan) : out_(out), plan_(plan), rows_(*plan.rows) {
    for (const auto* steps : {&plan.prologue, &plan.epilogue})
      for (const Step& step : *steps) steps_.push_back(&step);
    is_narrow_ = std::all_of(steps_.begin(), steps_.end(), [](const Step* step) {
      return step->out[0].space != Space::Param || ir::bytes_of(step->out[0].dtype) == 2;
    });
  }

  void emit() {
    place();
    if (is_narrow_) out_.line("using fast::exp;");
    pads();
    for (size_t i = 0; i < rows_.loads.size(); ++i) load(i);
    if (rows_.cluster > 1) out_.line("cluster_sync();  // all blocks have begun");
    for (size_t i = 0; i < steps_.size(); ++i) {
      finish(rows_.steps[i].combined);
      if (!steps_[i]->label.empty()) out_.line("// {}", steps_[i]->label);
      step(i);
    }
    finish(rows_.combined);
  }

 private:
  // ---- which row ----

  void place() {
    const int64_t of_item = rows_.rows_of_item(), all = plan_.items() * of_item;
    std::string row = "block_index()";
    if (rows_.cluster > 1) row += fmt::format(" / {}", rows_.cluster);
    if (rows_.teams > 1) row += fmt::format(" * {} + thread() / {}", rows_.teams, rows_.team);
    out_.line("const int64_t row_of_all = {};", row);
    out_.line("const int64_t item = row_of_all{};",
              of_item > 1 ? fmt::format(" / {}", of_item) : "");
    emit_grid(out_, plan_);
    std::vector<std::string> exists;
    if (all % rows_.teams != 0) exists.push_back(fmt::format("row_of_all < {}", all));
    int64_t inner = of_item;
    for (size_t i = 0; i < rows_.rows.size(); ++i) {
      const Length& length = rows_.rows[i];
      inner /= length.max;
      out_.line("const int64_t i{} = row_of_all{} % {};", i,
                inner > 1 ? fmt::format(" / {}", inner) : "", length.max);
      if (length.ragged >= 0) exists.push_back(fmt::format("i{} < {}", i, length_text(length)));
    }
    std::string columns = length_text(rows_.columns);
    if (rows_.columns.ragged >= 0) columns = fmt::format("static_cast<int>({})", columns);
    if (!exists.empty()) columns = fmt::format("{} ? {} : 0", fmt::join(exists, " && "), columns);
    std::string member = rows_.teams > 1 ? fmt::format("thread() % {}", rows_.team) : "thread()";
    if (rows_.cluster > 1) member += fmt::format(" + cluster_rank() * {}", rows_.team);
    out_.line("const RowPart<{}, {}, {}, Tail::{}> row{{{}, {}}};", rows_.members(), rows_.chunks,
              rows_.width, tail(exists.empty()), member, columns);
  }

  std::string_view tail(bool all_exist) const {
    if (rows_.is_even() && all_exist) return "None";
    const bool is_whole = rows_.columns.ragged < 0 && rows_.columns.max % rows_.width == 0;
    return is_whole ? "Chunks" : "Elements";
  }

  /// Two, used in turns, so that one barrier a round is enough.
  void pads() {
    if (rows_.members() <= kWarp) return;
    size_t most = rows_.combined.size();
    for (const RowStep& planned : rows_.steps) most = std::max(most, planned.combined.size());
    pad_size_ = most * static_cast<size_t>(rows_.members() / kWarp);
    if (most > 0)
      out_.line("float* const pads = shared_array<float, {}, struct Pads>();", 2 * pad_size_);
  }

  // ---- memory ----

  int64_t stride_at(const Operand& operand, size_t axis) const {
    const size_t rank = operand.lengths.size();
    if (axis >= rank || operand.lengths[rank - 1 - axis].max == 1) return 0;
    return operand.strides[rank - 1 - axis];
  }

  std::string at(const Operand& operand) const {
    std::vector<int64_t> strides;
    for (size_t axis : rows_.row_axes) strides.push_back(stride_at(operand, axis));
    return address(plan_, operand, strides);
  }

  void load(size_t index) {
    const RowLoad& load = rows_.loads[index];
    const std::string from = at(load.operand);
    if (load.is_tile)
      out_.line("const auto t{} = row.load<{}>({});", index, load.access, from);
    else
      out_.line("const float t{} = row.number({});", index, from);
  }

  void store(size_t index) {
    const Operand& to = steps_[index]->out[0];
    if (to.space != Space::Param) return;
    if (stride_at(to, rows_.column_axis) != 0)
      out_.line("row.store<{}>({}, {});", rows_.steps[index].access, at(to), result(index));
    else
      out_.line("row.store_number({}, {});", at(to), result(index));
  }

  // ---- steps ----

  static std::string result(size_t index) { return fmt::format("r{}", index); }
  static std::string text(const RowSource& source) {
    return fmt::format("{}{}", source.is_load ? "t" : "r", source.index);
  }

  void step(size_t index) {
    const Step& step = *steps_[index];
    const RowStep& planned = rows_.steps[index];
    const std::string name = result(index);
    std::vector<std::string> arguments;
    std::vector<bool> shared;
    for (const RowSource& source : planned.in) {
      arguments.push_back(text(source));
      shared.push_back(is_narrow_ && !source.is_tile);
    }
    switch (step.kind) {
      case StepKind::Fill:
        out_.line("const float {} = {};", name, number(step.value));
        break;
      case StepKind::Count:
        out_.line("const float {} = T({});", name, length_text(step.lengths[0]));
        break;
      case StepKind::Copy:
        out_.line("const auto& {} = {};", name, arguments[0]);
        break;
      case StepKind::Reduce:
        emit_call(out_, fmt::format("float {} = row.reduce<{}>(", name, operation(step)), step,
                  arguments, shared);
        return;  // stored when it is finished
      default:
        emit_call(out_,
                  planned.is_tile ? fmt::format("const auto {} = row.map(", name)
                                  : fmt::format("const float {} = apply(", name),
                  step, arguments, planned.is_tile ? shared : std::vector<bool>{});
    }
    store(index);
  }

  static std::string_view operation(const Step& step) {
    return step.combine == ir::Combine::Max ? "ChainMax" : "ChainSum";
  }

  /// Reductions over the threads of a team.
  void finish(const std::vector<size_t>& indices) {
    if (indices.empty()) return;
    std::string operations, values;
    for (size_t index : indices) {
      operations += fmt::format(", {}", operation(*steps_[index]));
      values += fmt::format(", {}", result(index));
    }
    if (rows_.members() > 1)
      out_.line(
          "combine_team<{}, {}{}>({}{});", rows_.team, rows_.cluster, operations,
          rows_.members() > kWarp ? fmt::format("pads + {}", rounds_++ % 2 * pad_size_) : "nullptr",
          values);
    for (size_t index : indices) {
      const Step& step = *steps_[index];
      if (step.combine == ir::Combine::Mean)
        out_.line("{} /= T({});", result(index), length_text(rows_.columns));
      if (step.is_gauge) out_.line("{0} = as_gauge({0});", result(index));
      store(index);
    }
  }

  static constexpr int kWarp = 32;
  Writer& out_;
  const KernelPlan& plan_;
  const RowPlan& rows_;
  std::vector<const Step*> steps_;
  bool is_narrow_ = false;  // all results are of 16 bits
  size_t pad_size_ = 0;
  size_t rounds_ = 0;
};

}  // namespace

void emit_rows(Writer& out, const KernelPlan& plan) { RowText(out, plan).emit(); }

int64_t row_blocks(const KernelPlan& plan) {
  const RowPlan& rows = *plan.rows;
  const int64_t all = plan.items() * rows.rows_of_item();
  return (all + rows.teams - 1) / rows.teams * rows.cluster;
}

void align_buffers(SourceUnit& unit, const KernelPlan& plan) {
  const auto align = [&](const Operand& operand, int64_t access) {
    int64_t& known = unit.buffers[plan.params[operand.index].buffer].alignment;
    known = std::max(known, access * ir::bytes_of(operand.dtype));
  };
  for (const RowLoad& load : plan.rows->loads) align(load.operand, load.access);
  size_t index = 0;
  for (const auto* steps : {&plan.prologue, &plan.epilogue})
    for (const Step& step : *steps) {
      const int64_t access = plan.rows->steps[index++].access;
      if (step.out[0].space == Space::Param) align(step.out[0], access);
    }
}

}  // namespace mirage::codegen
