// Methods for every row of the op table, on graphs of the levels where it exists, and the
// operators of Python's syntax on tensors.

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <deque>

#include "errors.h"
#include "graph.h"
#include "ir/compose.h"

namespace nb = nanobind;

namespace mirage::python {
namespace {

using ir::AttrKey;
using ir::OpDef;

std::string python_type_of(nb::handle object) {
  return nb::cast<std::string>(object.type().attr("__name__"));
}

template <class T>
T read(nb::handle object, const std::string& what, std::string_view expected) {
  T value;
  if (!nb::try_cast(object, value))
    refuse("{}: expected {}, found {}", what, expected, nb::cast<std::string>(nb::repr(object)));
  return value;
}

bool is_number(nb::handle object) {
  return !nb::isinstance<nb::bool_>(object) &&
         (nb::isinstance<nb::float_>(object) || nb::isinstance<nb::int_>(object) ||
          PyIndex_Check(object.ptr()) ||
          (nb::hasattr(object, "__float__") && !nb::hasattr(object, "__len__")));
}

std::string_view python_type(AttrKey key) {
  switch (key) {
    case AttrKey::Axis:
    case AttrKey::Start:
    case AttrKey::Length:
      return "int";
    case AttrKey::Perm:
    case AttrKey::Shape:
      return "collections.abc.Sequence[int]";
    case AttrKey::Value:
    case AttrKey::Lo:
    case AttrKey::Hi:
      return "float";
    case AttrKey::Combine:
      return "str";
    case AttrKey::Bind:
      break;
  }
  return "collections.abc.Sequence[collections.abc.Sequence[int]]";
}

void set_attribute(ir::Attrs& attrs, AttrKey key, nb::handle value, std::string_view op) {
  const std::string what = fmt::format("{}: {}", op, name_of(key));
  switch (key) {
    case AttrKey::Axis:
      attrs.axis = read<int64_t>(value, what, "an integer");
      return;
    case AttrKey::Perm:
    case AttrKey::Shape:
      attrs.ints = read<std::vector<int64_t>>(value, what, "a sequence of integers");
      return;
    case AttrKey::Start:
    case AttrKey::Length:
      attrs.ints.push_back(read<int64_t>(value, what, "an integer"));
      return;
    case AttrKey::Value:
    case AttrKey::Lo:
    case AttrKey::Hi:
      attrs.scalars.push_back(read<double>(value, what, "a number"));
      return;
    case AttrKey::Combine: {
      const auto name = read<std::string>(value, what, "sum, mean or max");
      const auto combine = ir::combine_named(name);
      if (!combine) refuse("{}: expected sum, mean or max, found {}", what, name);
      attrs.combine = *combine;
      return;
    }
    case AttrKey::Bind:
      attrs.bind = read<ir::Bind>(value, what, "for each axis, a list of block axes");
      return;
  }
}

constexpr std::array<std::string_view, 2> kPublishedNames = {"A", "B"};

std::vector<std::string> operand_names(const OpDef& row) {
  if (row.arity == 1) return {"x"};
  if (row.arity == 2) return {"a", "b"};
  return {};
}

bool takes_axes(const OpDef& row) {
  return row.form == ir::Form::Reduce && row.kind != ir::OpKind::GaugeMax;
}

bool is_optional(const OpDef& row, AttrKey key) {
  return row.kind == ir::OpKind::Store && key == AttrKey::Shape;
}

/// The signature that type checkers see.
std::string signature(const OpDef& row) {
  std::string text = fmt::format("def {}(self", row.name);
  const bool takes_numbers = row.form == ir::Form::Map && row.arity == 2;
  for (const std::string& name : operand_names(row))
    text += fmt::format(", {}: {}", name, takes_numbers ? "Tensor | float" : "Tensor");
  if (row.arity < 0) text += ", xs: collections.abc.Sequence[Tensor]";
  for (AttrKey key : row.attrs)
    text += fmt::format(", {}: {}{}", name_of(key),
                        takes_axes(row) ? "int | collections.abc.Sequence[int]" : python_type(key),
                        is_optional(row, key) ? " | None = None" : "");
  const bool is_pair = row.kind == ir::OpKind::RunningMax || row.kind == ir::OpKind::RunningGauge;
  return text + (is_pair ? ") -> tuple[Tensor, Tensor]" : ") -> Tensor");
}

template <class Handle>
void bind_rows(nb::class_<Handle>& target, ir::Level level) {
  static std::deque<std::string> texts;  // nanobind keeps pointers
  for (const OpDef& row : ir::op_table()) {
    if (!row.exists_at(level) || row.form == ir::Form::Block) continue;
    const char* sig = texts.emplace_back(signature(row)).c_str();
    const char* doc = texts.emplace_back(row.description).c_str();
    const char* name = texts.emplace_back(row.name).c_str();
    target.def(
        name,
        [kind = row.kind](Handle& self, nb::args args, nb::kwargs kwargs) {
          return apply(self.state, kind, args, kwargs);
        },
        nb::sig(sig), doc);
  }
}

template <ir::OpKind kind>
nb::object infix(Tensor& self, nb::handle other) {
  return apply(self.state, kind, nb::borrow<nb::args>(nb::make_tuple(self, other)), nb::kwargs());
}
template <ir::OpKind kind>
nb::object infix_reversed(Tensor& self, nb::handle other) {
  return apply(self.state, kind, nb::borrow<nb::args>(nb::make_tuple(other, self)), nb::kwargs());
}

}  // namespace

ir::ValueId operand_of(GraphState& state, nb::handle object, const std::string& what) {
  if (nb::isinstance<Tensor>(object)) {
    const auto& tensor = nb::cast<const Tensor&>(object);
    if (tensor.state.get() != &state) refuse("{} belongs to another graph", what);
    return tensor.id;
  }
  if (is_number(object)) {
    const nb::object number = nb::steal(PyNumber_Float(object.ptr()));
    if (number.is_valid()) return unwrap(state.builder.constant(nb::cast<double>(number)));
    if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) throw nb::python_error();
    PyErr_Clear();
    refuse("{} is a number beyond 64-bit floats", what);
  }
  refuse("{} should be a tensor of this graph or a number, found {}", what, python_type_of(object));
}

nb::object apply(const std::shared_ptr<GraphState>& state, ir::OpKind kind, const nb::args& args,
                 const nb::kwargs& kwargs) {
  const OpDef& row = ir::def(kind);
  std::vector<nb::object> operands;
  std::vector<nb::object> attributes(row.attrs.size());
  size_t next_attribute = 0;
  const std::vector<std::string> names = operand_names(row);
  // By position: operands up to the arity, then attributes; tensors are operands anywhere, so that
  // one too many is told as such.
  for (nb::handle arg : args) {
    const bool is_tensor = nb::isinstance<Tensor>(arg);
    if (row.arity < 0 && operands.empty() && !is_tensor && PySequence_Check(arg.ptr())) {
      for (nb::handle item : arg) operands.push_back(nb::borrow(item));
    } else if (is_tensor || (row.arity >= 0 && operands.size() < static_cast<size_t>(row.arity))) {
      operands.push_back(nb::borrow(arg));
    } else if (next_attribute < attributes.size()) {
      attributes[next_attribute++] = nb::borrow(arg);
    } else if (row.attrs.empty()) {
      operands.push_back(nb::borrow(arg));
    } else {
      refuse("{}: expected {} arguments, found {}", row.name,
             static_cast<size_t>(std::max(row.arity, 1)) + attributes.size(), args.size());
    }
  }
  for (auto [key, value] : kwargs) {
    const auto name = nb::cast<std::string>(key);
    bool is_known = false;
    for (size_t i = 0; i < names.size(); ++i)
      if ((names[i] == name || kPublishedNames[i] == name) && operands.size() == i) {
        operands.push_back(nb::borrow(value));
        is_known = true;
      }
    if (row.arity < 0 && name == "xs" && operands.empty()) {
      for (nb::handle item : value) operands.push_back(nb::borrow(item));
      is_known = true;
    }
    for (size_t i = 0; i < attributes.size(); ++i)
      if (name_of(row.attrs[i]) == name) {
        if (attributes[i].is_valid()) refuse("{}: {} is given twice", row.name, name);
        attributes[i] = nb::borrow(value);
        is_known = true;
      }
    if (!is_known) refuse("{}: unexpected argument {}", row.name, name);
  }
  if (takes_axes(row) && operands.size() == 1 && attributes[0].is_valid() &&
      PySequence_Check(attributes[0].ptr()) && !nb::isinstance<nb::str>(attributes[0])) {
    const auto axes =
        read<std::vector<int64_t>>(attributes[0], fmt::format("{}: axis", row.name), "integers");
    const ir::ValueId x = operand_of(*state, operands[0], fmt::format("{}: operand 0", row.name));
    return nb::cast(Tensor{state, all_or_nothing(*state, [&] {
                             return unwrap(ir::reduce(state->builder, row.combine, x, axes));
                           })});
  }
  ir::Attrs attrs;
  for (size_t i = 0; i < attributes.size(); ++i) {
    if (attributes[i].is_valid() && !(is_optional(row, row.attrs[i]) && attributes[i].is_none()))
      set_attribute(attrs, row.attrs[i], attributes[i], row.name);
    else if (!is_optional(row, row.attrs[i]))
      refuse("{}: {} is missing", row.name, name_of(row.attrs[i]));
  }
  const auto add = [&] {
    std::vector<ir::ValueId> ids;
    for (size_t i = 0; i < operands.size(); ++i)
      ids.push_back(operand_of(*state, operands[i], fmt::format("{}: operand {}", row.name, i)));
    return unwrap(state->builder.add_all(kind, ids, std::move(attrs)));
  };
  bool has_numbers = false;  // their constants must not stay behind when the operator is refused
  for (const nb::object& operand : operands) has_numbers |= !nb::isinstance<Tensor>(operand);
  const auto results = has_numbers ? all_or_nothing(*state, add) : add();
  if (results.size() == 1) return nb::cast(Tensor{state, results[0]});
  nb::list all;
  for (ir::ValueId id : results) all.append(Tensor{state, id});
  return nb::tuple(all);
}

void bind_operators(nb::module_& module, nb::class_<KernelHandle>& kernel,
                    nb::class_<BlockHandle>& block, nb::class_<Tensor>& tensor) {
  bind_rows(kernel, ir::Level::Kernel);
  bind_rows(block, ir::Level::Block);

  using ir::OpKind;
  constexpr const char* kNumberOrTensor = "Tensor | float";
  static std::deque<std::string> texts;
  const auto binary = [&](const char* name, auto forward) {
    const char* sig = texts
                          .emplace_back(fmt::format("def {}(self, other: {}, /) -> Tensor", name,
                                                    kNumberOrTensor))
                          .c_str();
    tensor.def(name, forward, nb::sig(sig));
  };
  binary("__add__", infix<OpKind::Add>);
  binary("__radd__", infix_reversed<OpKind::Add>);
  binary("__sub__", infix<OpKind::Sub>);
  binary("__rsub__", infix_reversed<OpKind::Sub>);
  binary("__mul__", infix<OpKind::Mul>);
  binary("__rmul__", infix_reversed<OpKind::Mul>);
  binary("__truediv__", infix<OpKind::Div>);
  binary("__rtruediv__", infix_reversed<OpKind::Div>);
  binary("__pow__", infix<OpKind::Pow>);
  binary("__rpow__", infix_reversed<OpKind::Pow>);
  tensor.def("__matmul__", infix<OpKind::MatMul>,
             nb::sig("def __matmul__(self, other: Tensor, /) -> Tensor"));
  tensor.def(
      "__neg__",
      [](Tensor& self) {
        return apply(self.state, OpKind::Neg, nb::borrow<nb::args>(nb::make_tuple(self)),
                     nb::kwargs());
      },
      nb::sig("def __neg__(self) -> Tensor"));

  module.def(
      "op_table",
      [] {
        nb::list rows;
        for (const OpDef& row : ir::op_table()) {
          nb::dict entry;
          entry["name"] = row.name;
          entry["arity"] = row.arity;
          nb::list levels, attributes;
          for (ir::Level level : {ir::Level::Kernel, ir::Level::Block, ir::Level::Thread})
            if (row.exists_at(level)) levels.append(name_of(level));
          for (AttrKey key : row.attrs) attributes.append(name_of(key));
          entry["levels"] = levels;
          entry["attributes"] = attributes;
          entry["description"] = row.description;
          rows.append(entry);
        }
        return rows;
      },
      nb::sig("def op_table() -> list[dict[str, object]]"),
      "Every operator: name, arity (-1: one or more), levels, attributes, description.");
}

}  // namespace mirage::python
