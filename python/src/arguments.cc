// Inputs and outputs of a graph as arguments of a call.

#include "program.h"

namespace mirage::python {
namespace {

codegen::Argument argument(const ir::Value& value, const ir::Strides& strides) {
  return {value.name, value.type.dtype, value.type.shape,
          strides.empty() ? ir::row_major_strides(value.type.shape) : strides};
}

}  // namespace

std::vector<codegen::Argument> input_arguments(const ir::Graph& graph) {
  std::vector<codegen::Argument> arguments;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    arguments.push_back(argument(graph.value(graph.inputs[i]), graph.input_strides[i]));
  return arguments;
}

std::vector<codegen::Argument> output_arguments(const ir::Graph& graph) {
  std::vector<codegen::Argument> arguments;
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    arguments.push_back(argument(graph.value(graph.outputs[i]), graph.output_strides[i]));
  return arguments;
}

}  // namespace mirage::python
