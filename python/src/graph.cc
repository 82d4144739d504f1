// Graphs under construction and their tensors.

#include "graph.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.h"

namespace nb = nanobind;

namespace mirage::python {
namespace {

using Ints = std::vector<int64_t>;

Ints ints_of(nb::handle object, const char* what) {
  Ints values;
  if (!nb::isinstance<nb::str>(object) && nb::try_cast(object, values)) return values;
  refuse("{}: expected a sequence of integers of 64 bits, found {}", what,
         nb::cast<std::string>(nb::repr(object)));
}

/// None: empty, which means row-major.
ir::Strides strides_for(nb::handle object, size_t rank, const char* what) {
  if (object.is_none()) return {};
  Ints strides = ints_of(object, what);
  if (strides.size() != rank)
    refuse("{}: expected {} strides, found {}", what, rank, strides.size());
  return strides;
}

Tensor add_input(KernelHandle& self, nb::handle shape, nb::handle dtype, nb::handle strides,
                 nb::handle name) {
  const Ints extents = ints_of(shape, "input");
  const ir::DType element = dtype_of(dtype);
  return {self.state,
          unwrap(self.state->builder.input({element, extents}, utf8_of(name, "input: name"),
                                           strides_for(strides, extents.size(), "input")))};
}

void mark_output(KernelHandle& self, nb::handle x, nb::handle strides) {
  if (!nb::isinstance<Tensor>(x)) refuse("mark_output: expected a tensor of this graph");
  const auto& tensor = nb::cast<const Tensor&>(x);
  if (tensor.state != self.state) refuse("mark_output: the tensor belongs to another graph");
  self.state->output_strides.push_back(
      strides_for(strides, tensor.type().shape.size(), "mark_output"));
  self.state->outputs.push_back(tensor.id);
}

nb::list tensors(const std::shared_ptr<GraphState>& state, const std::vector<ir::ValueId>& ids) {
  nb::list list;
  for (ir::ValueId id : ids) list.append(Tensor{state, id});
  return list;
}

ir::Strides strides_of(const Tensor& tensor) {
  const ir::Graph& graph = tensor.state->builder.draft();
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    if (graph.inputs[i] == tensor.id && !graph.input_strides[i].empty())
      return graph.input_strides[i];
  return ir::row_major_strides(tensor.type().shape);
}

std::string describe(const Tensor& tensor) {
  const std::string& name = tensor.state->builder.draft().value(tensor.id).name;
  return fmt::format("%{}: {}", name.empty() ? std::to_string(tensor.id.index) : name,
                     ir::to_string(tensor.type()));
}

}  // namespace

nb::tuple to_tuple(const Ints& values) {
  nb::list list;
  for (int64_t value : values) list.append(value);
  return nb::tuple(list);
}

ir::GraphPtr finished(const GraphState& state) {
  return unwrap(state.builder.finish(state.outputs, state.output_strides));
}

KernelHandle handle_of(const ir::GraphPtr& graph) {
  auto state = std::make_shared<GraphState>(ir::GraphBuilder(*graph));
  if (!graph->outputs_implied) {
    state->outputs = graph->outputs;
    state->output_strides = graph->output_strides;
  }
  return {{std::move(state)}};
}

nb::list handles(const std::vector<ir::GraphPtr>& graphs) {
  nb::list list;
  for (const ir::GraphPtr& graph : graphs) list.append(handle_of(graph));
  return list;
}

void bind_graphs(nb::module_& module) {
  nb::class_<Tensor> tensor(module, "Tensor",
                            "A value of a graph. Operators (+ - * / ** @) add to its graph.");
  tensor.def_prop_ro(
      "shape", [](const Tensor& self) { return to_tuple(self.type().shape); },
      nb::sig("def shape(self) -> tuple[int, ...]"), "Extents, outermost first.");
  tensor.def_prop_ro(
      "dtype", [](const Tensor& self) { return self.type().dtype; }, "Type of the elements.");
  tensor.def_prop_ro(
      "ndim", [](const Tensor& self) { return self.type().shape.size(); }, "Number of axes.");
  tensor.def_prop_ro(
      "strides", [](const Tensor& self) { return to_tuple(strides_of(self)); },
      nb::sig("def strides(self) -> tuple[int, ...]"),
      "In elements: those that an input was declared with, else row-major.");
  tensor.def("__repr__", [](const Tensor& self) { return "Tensor(" + describe(self) + ")"; });
  // Without this, numpy_array * tensor would be an array of tensors.
  tensor.attr("__array_ufunc__") = nb::none();

  nb::class_<KernelHandle> kernel(module, "Graph", nb::dynamic_attr(),
                                  "A tensor program. Methods add operators and return tensors.");
  kernel.def(
      "__init__",
      [](KernelHandle* self, nb::handle name) {
        std::string text = utf8_of(name, "Graph: name");
        new (self) KernelHandle{{std::make_shared<GraphState>()}};
        self->state->builder.set_name(std::move(text));
      },
      nb::arg("name") = "", nb::sig("def __init__(self, name: str = '') -> None"));
  kernel.def(
      "input", add_input, nb::arg("shape").none(), nb::arg("dtype").none() = "f32",
      nb::arg("strides") = nb::none(), nb::arg("name") = "",
      nb::sig(
          "def input(self, shape: collections.abc.Sequence[int], dtype: object = 'f32', strides: "
          "collections.abc.Sequence[int] | None = None, name: str = '') -> Tensor"),
      "An input; strides count elements, None is row-major.");
  kernel.def("mark_output", mark_output, nb::arg("x").none(), nb::arg("strides") = nb::none(),
             nb::sig("def mark_output(self, x: Tensor, strides: collections.abc.Sequence[int] | "
                     "None = None) -> "
                     "None"),
             "Makes x the next output; strides count elements, None is row-major. Without any, the "
             "outputs are the values nobody reads.");
  kernel.def(
      "output",
      [](KernelHandle& self, nb::args args) {
        for (nb::handle arg : args) {
          mark_output(self, arg, nb::none());
        }
      },
      nb::sig("def output(self, *xs: Tensor) -> None"), "Makes these the next outputs.");
  kernel.def_prop_ro(
      "inputs",
      [](const KernelHandle& self) {
        return tensors(self.state, self.state->builder.draft().inputs);
      },
      nb::sig("def inputs(self) -> list[Tensor]"), "In the order in which a call takes them.");
  kernel.def_prop_ro(
      "outputs",
      [](const KernelHandle& self) { return tensors(self.state, finished(*self.state)->outputs); },
      nb::sig("def outputs(self) -> list[Tensor]"), "In the order in which a call returns them.");
  kernel.def_prop_ro(
      "hash", [](const KernelHandle& self) { return to_hex(finished(*self.state)->hash); },
      "Of structure, types and layouts; names do not count.");

  nb::class_<BlockHandle> block(module, "BlockGraph", nb::dynamic_attr(),
                                "The body of a kernel: what each block of a grid does.");
  kernel.def(
      "become",
      [](KernelHandle& self, const KernelHandle& other) {
        self.state = std::make_shared<GraphState>(*other.state);
      },
      nb::arg("other"), "Makes this a copy of other; tensors it had belong to it no more.");
  bind_blocks(kernel, block);
  bind_composites(kernel);
  bind_text(module, kernel, block);
  bind_files(module, kernel);
  bind_operators(module, kernel, block, tensor);
}

}  // namespace mirage::python
