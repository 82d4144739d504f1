#pragma once
// Elements of a graph's values by their row-major number in the declared shape, and which elements
// of its operands an operator reads for one of its result.

#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace mirage::interp {

class ElementIndex {
 public:
  /// The graph must outlive this.
  explicit ElementIndex(const ir::Graph& graph);

  const ir::Strides& strides(ir::ValueId id) const { return strides_[id.index]; }

  /// Element of `operand` that element `index` of `result` reads; the last `trailing` axes count 0.
  int64_t broadcast(ir::ValueId result, int64_t index, ir::ValueId operand, size_t trailing) const;

  /// The first element that a reduction of `operand` along `axis` to element `index` reads.
  int64_t reduced(ir::ValueId operand, size_t axis, int64_t index) const;

  /// The first elements of the row and the column that a contraction multiplies.
  struct Factors {
    int64_t row, column;
  };
  Factors contracted(const ir::Op& op, int64_t index) const;

  /// What a reshape, transpose, narrow or concat copies.
  struct Element {
    ir::ValueId value;
    int64_t index;
  };
  Element moved(const ir::Op& op, int64_t index) const;

 private:
  const ir::Graph& graph_;
  std::vector<ir::Strides> strides_;  // by ValueId
};

}  // namespace mirage::interp
