#include "interp/interp.h"

#include "interp/domain_f64.h"
#include "interp/evaluator.h"

namespace mirage::interp {
namespace {

Result<void> check_inputs(const ir::Graph& graph, std::span<const TensorF64> inputs) {
  if (graph.level != ir::Level::Kernel)
    return bad_input("evaluate: expected a kernel graph, found a {} graph",
                     ir::name_of(graph.level));
  if (inputs.size() != graph.inputs.size())
    return bad_input("evaluate: expected {} inputs, found {}", graph.inputs.size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Shape& expected = graph.type(graph.inputs[i]).shape;
    if (inputs[i].shape != expected ||
        inputs[i].data.size() != static_cast<size_t>(ir::element_count(expected)))
      return bad_input("evaluate: input {} should have shape {}, found {}", i,
                       ir::to_string(expected), ir::to_string(inputs[i].shape));
  }
  return {};
}

TensorF64 rounded(const Tensor<WideF64>& tensor) {
  TensorF64 result;
  result.shape = tensor.shape;
  result.data.reserve(tensor.data.size());
  for (const WideF64& value : tensor.data) result.data.push_back(value.to_double());
  return result;
}

Result<void> run(Evaluator<WideDomain>& evaluator, std::span<const TensorF64> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor<WideF64>& input = evaluator.input(i);
    reset(input, inputs[i].shape);
    for (size_t k = 0; k < input.data.size(); ++k) input.data[k] = WideF64(inputs[i].data[k]);
  }
  WideDomain domain;
  return evaluator.run(domain);
}

}  // namespace

Result<std::vector<TensorF64>> evaluate(const ir::Graph& graph, std::span<const TensorF64> inputs) {
  MIRAGE_TRY_VOID(check_inputs(graph, inputs));
  Evaluator<WideDomain> evaluator(graph);
  MIRAGE_TRY_VOID(run(evaluator, inputs));
  std::vector<TensorF64> outputs;
  for (size_t i = 0; i < graph.outputs.size(); ++i) outputs.push_back(rounded(evaluator.output(i)));
  return outputs;
}

Result<std::vector<TensorF64>> evaluate_values(const ir::Graph& graph,
                                               std::span<const TensorF64> inputs) {
  MIRAGE_TRY_VOID(check_inputs(graph, inputs));
  Evaluator<WideDomain> evaluator(graph);
  MIRAGE_TRY_VOID(run(evaluator, inputs));
  std::vector<TensorF64> values;
  for (size_t i = 0; i < graph.values.size(); ++i)
    values.push_back(rounded(evaluator.value(ir::ValueId{i})));
  return values;
}

}  // namespace mirage::interp
