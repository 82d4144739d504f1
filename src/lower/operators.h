#pragma once
// A kernel-level operator as a block of its own: how candidate 0 runs one operator after the other.

#include <span>

#include "ir/graph.h"
#include "lower/target.h"
#include "util/result.h"

namespace mirage::lower {

/// The operand of a block made by as_block: a tensor, or a scalar known at compile time.
struct BlockOperand {
  ir::TensorType type;
  bool is_scalar = false;
  double value = 0;
};

/// Block graph of a Map, Reduce or Contract operator over the operands that are tensors, its grid
/// sized for the target.
Result<ir::GraphPtr> as_block(const ir::Op& op, std::span<const BlockOperand> operands,
                              const ir::TensorType& result, const Target& target);

/// Block graph that copies a tensor.
Result<ir::GraphPtr> copy_block(const ir::TensorType& type, const Target& target);

/// Block graph that stores a number.
Result<ir::GraphPtr> scalar_block(double value);

}  // namespace mirage::lower
