#pragma once
// The only way to make a Graph: every operator is checked as it is added, the whole when it is
// finished.

#include <memory>
#include <span>
#include <string>

#include "ir/graph.h"
#include "util/result.h"

namespace mirage::ir {

class GraphBuilder {
 public:
  /// A kernel-level graph.
  GraphBuilder();
  /// A block-level graph over these axes.
  static Result<GraphBuilder> block(Launch launch);
  static GraphBuilder thread();
  /// Goes on where a kernel or block graph ends: its values keep their ids; outputs are named anew.
  explicit GraphBuilder(const Graph& graph);

  void set_name(std::string name) { graph_.name = std::move(name); }

  /// An input; strides in elements, empty for row-major. BadInput for a rank above 8, negative
  /// extents, overflow, or strides of another rank. Zero and negative strides are allowed
  /// (broadcast and flipped views).
  Result<ValueId> input(TensorType type, std::string name = {}, Strides strides = {});

  /// Adds an operator; BadInput names operator, value, axis, expected and found.
  Result<std::vector<ValueId>> add_all(OpKind kind, std::span<const ValueId> operands,
                                       Attrs attrs = {});
  /// The same for an operator with one result (or whose first result is wanted).
  Result<ValueId> add(OpKind kind, std::span<const ValueId> operands, Attrs attrs = {});
  Result<ValueId> add(OpKind kind, std::initializer_list<ValueId> operands, Attrs attrs = {});
  /// A graph-defined operator; operand types must be the body's input types. One result per output
  /// of the body.
  Result<std::vector<ValueId>> add_block(GraphPtr body, std::span<const ValueId> operands);

  Result<ValueId> constant(double value);

  void name_value(ValueId id, std::string name) { graph_.values[id.index].name = std::move(name); }
  const TensorType& type(ValueId id) const { return graph_.type(id); }
  /// %name, or %index where there is none: for messages.
  std::string display(ValueId id) const;
  const Graph& draft() const { return graph_; }

  /// The graph. Without outputs: at kernel level the values nobody reads, at block level the stores
  /// in order.
  Result<GraphPtr> finish(std::span<const ValueId> outputs = {},
                          std::span<const Strides> output_strides = {}) const;

 private:
  explicit GraphBuilder(Level level);
  Result<std::vector<ValueId>> append(OpKind kind, std::span<const ValueId> operands, Attrs attrs,
                                      std::vector<TensorType> types, GraphPtr body);
  Result<void> check_phase(OpKind kind, std::span<const ValueId> operands, const Attrs& attrs,
                           const std::string& label);
  std::string label_of(OpKind kind) const;
  void note_ragged_loop(const Op& load);

  Graph graph_;
  std::vector<Phase> phases_;  // block level: by ValueId
  std::string ragged_loop_;    // block level: what a loop axis does not divide, if there is one
};

}  // namespace mirage::ir
