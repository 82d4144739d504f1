// The extension module mirage._core: one file a topic registers its classes here.

#include <nanobind/nanobind.h>

#include "errors.h"
#include "graph.h"
#include "program.h"

NB_MODULE(_core, module) {
  module.attr("version") = MIRAGE_VERSION;
  mirage::python::bind_errors(module);
  mirage::python::bind_dtypes(module);
  mirage::python::bind_graphs(module);
  mirage::python::bind_programs(module);
  mirage::python::bind_evaluate(module);
  mirage::python::bind_verdicts(module);
  mirage::python::bind_optimize(module);
}
