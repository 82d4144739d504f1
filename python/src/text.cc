// Graphs as text.

#include "ir/text.h"

#include <nanobind/stl/string.h>

#include "errors.h"
#include "graph.h"

namespace nb = nanobind;

namespace mirage::python {
namespace {

std::string text_of(const GraphState& state) {
  const auto graph = state.builder.finish(state.outputs, state.output_strides);
  return ir::print(graph ? **graph : state.builder.draft());
}

}  // namespace

void bind_text(nb::module_& module, nb::class_<KernelHandle>& kernel,
               nb::class_<BlockHandle>& block) {
  kernel.def("__str__", [](const KernelHandle& self) { return text_of(*self.state); });
  block.def("__str__", [](const BlockHandle& self) { return text_of(*self.state); });
  module.def(
      "parse", [](nb::handle text) { return handles(unwrap(ir::parse(utf8_of(text, "parse")))); },
      nb::arg("text"), nb::sig("def parse(text: str) -> list[Graph]"),
      "The graphs of a text in the .mu format.");
}

}  // namespace mirage::python
