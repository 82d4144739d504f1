#pragma once
// Compiled programs as Python calls them.

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "runtime/executable.h"

namespace mirage::python {

struct Program {
  ir::GraphPtr graph;
  std::shared_ptr<const runtime::Executable> executable;
  std::vector<codegen::Argument> inputs, outputs;  // named as in the program
};

/// Inputs and outputs of a program as arguments with all strides spelled out.
std::vector<codegen::Argument> input_arguments(const ir::Graph& graph);
std::vector<codegen::Argument> output_arguments(const ir::Graph& graph);

void bind_programs(nanobind::module_& module);
void bind_optimize(nanobind::module_& module);
void bind_evaluate(nanobind::module_& module);

}  // namespace mirage::python
