#include "ir/structural_hash.h"

namespace mirage::ir {
namespace {

void add_type(Hasher& hasher, const TensorType& type) {
  hasher.add(type.dtype).add_all(std::span<const int64_t>(type.shape));
}

void add_attrs(Hasher& hasher, const Attrs& attrs) {
  hasher.add(attrs.axis)
      .add_all(std::span<const int64_t>(attrs.ints))
      .add_all(std::span<const double>(attrs.scalars));
  hasher.add(attrs.combine).add(uint64_t{attrs.bind.size()});
  for (const auto& axes : attrs.bind) hasher.add_all(std::span<const uint8_t>(axes));
}

}  // namespace

Hash128 structural_hash(const Graph& graph) {
  Hasher hasher;
  hasher.add(graph.level).add(uint64_t{graph.launch.axes.size()}).add(graph.launch.threads);
  for (const Axis& axis : graph.launch.axes) hasher.add(axis.role).add(axis.trips);
  // Inputs are numbered before results, so that it does not matter when an input was added.
  std::vector<uint32_t> number(graph.values.size());
  uint32_t next = 0;
  for (ValueId input : graph.inputs) number[input.index] = next++;
  for (const Op& op : graph.ops)
    for (ValueId result : op.results) number[result.index] = next++;

  hasher.add(uint64_t{graph.inputs.size()});
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    add_type(hasher, graph.type(graph.inputs[i]));
    hasher.add_all(std::span<const int64_t>(graph.input_strides[i]));
  }
  hasher.add(uint64_t{graph.ops.size()});
  for (const Op& op : graph.ops) {
    hasher.add(def(op.kind).name);  // names, not enumerators: a new row must not change stored keys
    add_attrs(hasher, op.attrs);
    hasher.add(uint64_t{op.operands.size()});
    for (ValueId operand : op.operands) hasher.add(number[operand.index]);
    hasher.add(uint64_t{op.results.size()});
    for (ValueId result : op.results) add_type(hasher, graph.type(result));
    if (op.body) hasher.add(op.body->hash);
  }
  hasher.add(uint64_t{graph.outputs.size()});
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    hasher.add(number[graph.outputs[i].index]);
    hasher.add_all(std::span<const int64_t>(graph.output_strides[i]));
  }
  return hasher.finish();
}

}  // namespace mirage::ir
