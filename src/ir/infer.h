#pragma once
// Result types of operators, from form, index rule and attributes; every rule a user can break is
// reported here.

#include <span>

#include "ir/graph.h"
#include "util/result.h"

namespace mirage::ir {

/// An operand as inference sees it. Weak: a scalar leaf, whose dtype gives way to the other
/// operands'.
struct OperandInfo {
  TensorType type;
  bool is_weak = false;
};

/// Types of the results of `kind` on these operands, or what is wrong; normalises negative axes in
/// attrs. `label` (such as "matmul %7") starts every message. Not for Block, whose results are
/// those of its body.
Result<std::vector<TensorType>> infer_types(OpKind kind, std::span<const OperandInfo> operands,
                                            Attrs& attrs, const Launch& launch,
                                            const std::string& label);

/// BadInput if the offsets that these strides reach leave 59 bits.
Result<void> check_reach(const Shape& shape, const Strides& strides, const std::string& label);

/// BadInput if two elements of a tensor with these strides share an address (output layouts only).
Result<void> check_disjoint(const Shape& shape, const Strides& strides, const std::string& label);

/// Elements of a shape, or BadInput if an extent is negative or the product leaves 62 bits.
Result<int64_t> checked_element_count(const Shape& shape, const std::string& label);

}  // namespace mirage::ir
