#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "ir/text.h"
#include "ir/text_lex.h"
#include "util/check.h"

namespace mirage::ir {
namespace {

/// Hands out names that are identifiers and different from each other; keeps those that are.
class Names {
 public:
  /// `fallback` stands for an empty or impossible name, and must itself be unique.
  std::string take(const std::string& wanted, const std::string& fallback) {
    const std::string& base = is_identifier(wanted) ? wanted : fallback;
    std::string name = base;
    // The next suffix is remembered, so that a thousand values of one name cost a thousand steps.
    for (int& suffix = next_suffix_[base]; !used_.insert(name).second;)
      name = fmt::format("{}_{}", base, ++suffix + 1);
    return name;
  }

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> next_suffix_;
};

class Printer {
 public:
  explicit Printer(const Graph& graph, int indent) : graph_(graph), indent_(indent) {
    axis_names();
    find_inlined();
  }

  std::string top_level() {
    name_values({});
    std::string out{name_of(graph_.level)};
    if (is_identifier(graph_.name)) out += " @" + graph_.name;
    out += "(";
    for (size_t i = 0; i < graph_.inputs.size(); ++i)
      out += fmt::format("{}{}: {}{}", i ? ", " : "", value(graph_.inputs[i]),
                         to_string(graph_.type(graph_.inputs[i])),
                         strides_text(graph_.input_strides[i]));
    out += ")";
    if (graph_.level == Level::Block) return out + launch_text() + body_text();
    out += " -> ";
    for (size_t i = 0; i < graph_.outputs.size(); ++i)
      out += fmt::format("{}{}{}", i ? ", " : "", to_string(graph_.type(graph_.outputs[i])),
                         strides_text(graph_.output_strides[i]));
    return out + body_text();
  }

  /// `block(...) ... { ... }` as a right side, given the names of its operands.
  std::string as_operator(const std::vector<std::string>& operands) {
    name_values(operands);
    std::string out = "block(";
    for (size_t i = 0; i < operands.size(); ++i) {
      if (i) out += ", ";
      const std::string inner = value(graph_.inputs[i]);
      out += inner == operands[i] ? inner : fmt::format("{} = {}", inner, operands[i]);
    }
    return out + ")" + launch_text() + body_text();
  }

 private:
  static std::string strides_text(const Strides& strides) {
    return strides.empty() ? "" : fmt::format(" strides({})", fmt::join(strides, ","));
  }

  void axis_names() {
    Names names;
    for (size_t i = 0; i < graph_.launch.axes.size(); ++i)
      axes_.push_back(names.take(graph_.launch.axes[i].name, fmt::format("axis{}", i)));
  }

  /// A constant or extent is written where it is used, if reading it back puts it in the same
  /// place: no name, one use, and directly before its user (operands are read left to right).
  void find_inlined() {
    std::vector<int> uses(graph_.values.size(), 0);
    for (const Op& op : graph_.ops)
      for (ValueId operand : op.operands) ++uses[operand.index];
    for (ValueId output : graph_.outputs) ++uses[output.index];
    inlined_.assign(graph_.values.size(), false);
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      if (graph_.ops[i].kind == OpKind::Block) continue;  // its operands are names
      size_t cursor = i;
      for (size_t k = graph_.ops[i].operands.size(); k-- > 0 && cursor > 0;) {
        const ValueId operand = graph_.ops[i].operands[k];
        const OpId producer = graph_.value(operand).def;
        if (!producer.is_valid() || producer.index != cursor - 1 || uses[operand.index] != 1 ||
            is_identifier(graph_.value(operand).name) || graph_.op(producer).kind != OpKind::Const)
          continue;
        inlined_[operand.index] = true;
        --cursor;
      }
    }
  }

  void name_values(const std::vector<std::string>& operands) {
    Names names;
    text_.resize(graph_.values.size());
    size_t number = 0;
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const ValueId input = graph_.inputs[i];
      // The operand of a block is called as outside, unless it has a name of its own.
      std::string wanted = graph_.value(input).name;
      if (!is_identifier(wanted) && i < operands.size()) wanted = operands[i].substr(1);
      text_[input.index] = "%" + names.take(wanted, std::to_string(number++));
    }
    for (const Op& op : graph_.ops)
      for (ValueId result : op.results)
        text_[result.index] = "%" + names.take(graph_.value(result).name, std::to_string(number++));
  }

  std::string value(ValueId id) const { return text_[id.index]; }

  std::string operand(ValueId id) const {
    return inlined_[id.index] ? number_text(graph_.def_of(id)->attrs.scalars[0]) : value(id);
  }

  std::string launch_text() const {
    std::string out;
    if (!axes_.empty()) {
      out += " axes(";
      for (size_t i = 0; i < axes_.size(); ++i) {
        const Axis& axis = graph_.launch.axes[i];
        out += fmt::format("{}{}: {} {}", i ? ", " : "", axes_[i], name_of(axis.role), axis.trips);
      }
      out += ")";
    }
    if (graph_.launch.threads != 0) out += fmt::format(" threads({})", graph_.launch.threads);
    return out;
  }

  std::string bind_text(const Bind& bind) const {
    std::string out = " [";
    for (size_t i = 0; i < bind.size(); ++i) {
      if (i) out += ", ";
      if (bind[i].empty()) out += ".";
      for (size_t k = 0; k < bind[i].size(); ++k) out += (k ? "/" : "") + axes_[bind[i][k]];
    }
    return out + "]";
  }

  /// Whether a store's result shape is what full tiles give, so that it need not be written.
  bool is_full_tiles(const Op& store) const {
    for (size_t i = 0; i < store.attrs.ints.size(); ++i) {
      int64_t extent = graph_.type(store.operands[0]).shape[i];
      for (uint8_t axis : store.attrs.bind[i]) extent *= graph_.launch.axes[axis].trips;
      if (extent != store.attrs.ints[i]) return false;
    }
    return true;
  }

  std::string attributes(const Op& op) const {
    const auto ints = [&] { return fmt::format("[{}]", fmt::join(op.attrs.ints, ",")); };
    std::string out;
    for (AttrKey key : def(op.kind).attrs) switch (key) {
        case AttrKey::Axis:
          out += fmt::format(" axis={}", op.attrs.axis);
          break;
        case AttrKey::Perm:
          out += " perm=" + ints();
          break;
        case AttrKey::Shape:
          if (op.kind != OpKind::Store || !is_full_tiles(op)) out += " shape=" + ints();
          break;
        case AttrKey::Start:
          out += fmt::format(" start={}", op.attrs.ints[0]);
          break;
        case AttrKey::Length:
          out += fmt::format(" length={}", op.attrs.ints[1]);
          break;
        case AttrKey::Lo:
          out += " lo=" + number_text(op.attrs.scalars[0]);
          break;
        case AttrKey::Hi:
          out += " hi=" + number_text(op.attrs.scalars[1]);
          break;
        case AttrKey::Value:
          out += " " + number_text(op.attrs.scalars[0]);
          break;
        case AttrKey::Bind:
          out += bind_text(op.attrs.bind);
          break;
        case AttrKey::Combine:
          break;  // stands before the operands
      }
    return out;
  }

  std::string right_side(const Op& op) const {
    if (op.kind == OpKind::Block) {
      std::vector<std::string> operands;
      for (ValueId id : op.operands) operands.push_back(value(id));
      return Printer(*op.body, indent_ + 1).as_operator(operands);
    }
    std::string out{def(op.kind).name};
    if (def(op.kind).has(AttrKey::Combine)) out += fmt::format(" {}", name_of(op.attrs.combine));
    for (size_t i = 0; i < op.operands.size(); ++i)
      out += (i ? ", " : " ") + operand(op.operands[i]);
    return out + attributes(op);
  }

  std::string body_text() const {
    const std::string margin(static_cast<size_t>(indent_ + 1) * 2, ' ');
    std::string out = " {\n";
    for (const Op& op : graph_.ops) {
      if (op.kind == OpKind::Const && inlined_[op.results[0].index]) continue;
      std::string line = margin;
      const bool is_bare_store =
          op.kind == OpKind::Store && !is_identifier(graph_.value(op.results[0]).name);
      if (!is_bare_store) {
        for (size_t i = 0; i < op.results.size(); ++i)
          line += (i ? ", " : "") + value(op.results[i]);
        line += " = ";
      }
      line += right_side(op);
      if (op.kind != OpKind::Block && def(op.kind).form != Form::Leaf)
        line += "  // " + to_string(graph_.type(op.results[0]));
      out += line + "\n";
    }
    if (graph_.level != Level::Block && !graph_.outputs_implied) {
      out += margin + "return ";
      for (size_t i = 0; i < graph_.outputs.size(); ++i)
        out += (i ? ", " : "") + value(graph_.outputs[i]);
      out += "\n";
    }
    return out + std::string(static_cast<size_t>(indent_) * 2, ' ') + "}";
  }

  const Graph& graph_;
  int indent_;
  std::vector<std::string> axes_;
  std::vector<std::string> text_;  // "%name" by ValueId
  std::vector<bool> inlined_;      // by ValueId
};

}  // namespace

std::string number_text(double value) {
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == std::trunc(value) && std::abs(value) < 1e6 && !(value == 0 && std::signbit(value)))
    return fmt::format("{}", static_cast<int64_t>(value));
  return fmt::format("{:a}", value);
}

std::string print(const Graph& graph) { return Printer(graph, 0).top_level() + "\n"; }

std::string print(std::span<const GraphPtr> graphs) {
  std::string out;
  for (const GraphPtr& graph : graphs) out += (out.empty() ? "" : "\n") + print(*graph);
  return out;
}

}  // namespace mirage::ir
