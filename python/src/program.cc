// Compiling a graph as it is, and running what was compiled.

#include "program.h"

#include <nanobind/stl/string.h>

#include "array.h"
#include "codegen/cpu/emit.h"
#include "errors.h"
#include "graph.h"
#include "lower/lower.h"
#include "lower/target.h"
#include "runtime/cpu/compile.h"

namespace nb = nanobind;

namespace mirage::python {
namespace {

Result<std::shared_ptr<const runtime::Executable>> compile_as_is(const ir::GraphPtr& graph,
                                                                 const std::string& target_name) {
  MIRAGE_TRY(const lower::Target target, lower::target_named(target_name));
  MIRAGE_TRY(const lower::Program program, lower::lower(graph, target));
  MIRAGE_TRY(const codegen::SourceUnit unit, codegen::emit_cpu(program));
  return runtime::compile(unit);
}

Program compile_graph(const KernelHandle& graph, const std::string& target) {
  Program program;
  program.graph = finished(*graph.state);
  program.inputs = input_arguments(*program.graph);
  program.outputs = output_arguments(*program.graph);
  nb::gil_scoped_release release;
  program.executable = unwrap(compile_as_is(program.graph, target));
  return program;
}

void run(const Program& program, nb::sequence inputs, nb::sequence outputs, int threads) {
  if (threads < 0) refuse("expected threads >= 0, found {}", threads);
  const auto read = arrays_of(inputs, program.inputs, false, "input");
  const auto written = arrays_of(outputs, program.outputs, true, "output");
  check_overlap(read, written);
  const auto input_views = views_of(read), output_views = views_of(written);
  nb::gil_scoped_release release;
  unwrap(program.executable->run(input_views, output_views, threads));
}

nb::list describe(const std::vector<codegen::Argument>& arguments) {
  nb::list list;
  for (const codegen::Argument& argument : arguments)
    list.append(
        nb::make_tuple(to_tuple(argument.shape), to_tuple(argument.strides), argument.dtype));
  return list;
}

}  // namespace

void bind_programs(nb::module_& module) {
  nb::class_<Program>(module, "Program", "A compiled program.")
      .def("run", run, nb::arg("inputs"), nb::arg("outputs"), nb::arg("threads") = 0,
           nb::sig("def run(self, inputs: collections.abc.Sequence[object], outputs: "
                   "collections.abc.Sequence[object], threads: "
                   "int = 0) -> None"),
           "Computes the outputs; arrays are checked against `inputs` and `outputs`.")
      .def_prop_ro(
          "inputs", [](const Program& self) { return describe(self.inputs); },
          nb::sig("def inputs(self) -> list[tuple[tuple[int, ...], tuple[int, ...], "
                  "DType]]"),
          "Shape, strides in elements and dtype of each input.")
      .def_prop_ro(
          "outputs", [](const Program& self) { return describe(self.outputs); },
          nb::sig("def outputs(self) -> list[tuple[tuple[int, ...], tuple[int, ...], "
                  "DType]]"),
          "Shape, strides in elements and dtype of each output.")
      .def_prop_ro(
          "source", [](const Program& self) { return self.executable->source().text; },
          "The generated program text.");
  module.def("compile", compile_graph, nb::arg("graph"), nb::arg("target") = "cpu",
             "Compiles a graph as it is, operator by operator.");
}

}  // namespace mirage::python
