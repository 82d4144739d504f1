#pragma once
// What Python holds: a graph under construction and handles to its values. Both are thin: every
// rule is the builder's.

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/builder.h"

namespace mirage::python {

struct GraphState {
  GraphState() = default;
  explicit GraphState(ir::GraphBuilder start) : builder(std::move(start)) {}

  ir::GraphBuilder builder;
  std::vector<ir::ValueId> outputs;  // marked so far
  std::vector<ir::Strides> output_strides;
};

/// A graph of any level. A class of its own in Python (Graph, BlockGraph) for each level.
struct GraphHandle {
  std::shared_ptr<GraphState> state;
};
struct KernelHandle : GraphHandle {};
struct BlockHandle : GraphHandle {};

/// A value of a graph; keeps the graph alive.
struct Tensor {
  std::shared_ptr<GraphState> state;
  ir::ValueId id;
  const ir::TensorType& type() const { return state->builder.type(id); }
};

/// The value that a Python object stands for in this graph: one of its tensors, or a number as a
/// constant. `what` starts the message if it is neither.
ir::ValueId operand_of(GraphState& state, nanobind::handle object, const std::string& what);

/// The type that a DType, a name ("f16", "float16") or a NumPy or PyTorch type stands for.
ir::DType dtype_of(nanobind::handle object);

/// The operator `kind` on Python arguments: operands first, then the attributes of its row, by
/// position or by name. One tensor, or a tuple where there are several results.
nanobind::object apply(const std::shared_ptr<GraphState>& state, ir::OpKind kind,
                       const nanobind::args& args, const nanobind::kwargs& kwargs);

/// Runs f on the state; if it throws, the graph is as before.
template <class F>
auto all_or_nothing(GraphState& state, F&& f) {
  GraphState saved = state;
  try {
    return f();
  } catch (...) {
    state = std::move(saved);
    throw;
  }
}

nanobind::tuple to_tuple(const std::vector<int64_t>& values);
ir::GraphPtr finished(const GraphState& state);
/// A graph that goes on where this one ends; its outputs are marked.
KernelHandle handle_of(const ir::GraphPtr& graph);
nanobind::list handles(const std::vector<ir::GraphPtr>& graphs);

void bind_dtypes(nanobind::module_& module);
void bind_graphs(nanobind::module_& module);
void bind_composites(nanobind::class_<KernelHandle>& kernel);
void bind_text(nanobind::module_& module, nanobind::class_<KernelHandle>& kernel,
               nanobind::class_<BlockHandle>& block);
void bind_files(nanobind::module_& module, nanobind::class_<KernelHandle>& kernel);
void bind_verdicts(nanobind::module_& module);
void bind_blocks(nanobind::class_<KernelHandle>& kernel, nanobind::class_<BlockHandle>& block);
void bind_operators(nanobind::module_& module, nanobind::class_<KernelHandle>& kernel,
                    nanobind::class_<BlockHandle>& block, nanobind::class_<Tensor>& tensor);

}  // namespace mirage::python
