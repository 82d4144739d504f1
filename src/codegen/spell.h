#pragma once
// How the languages write scalars: the one table of spellings, and the domain that turns the bodies
// of Map operators into text.

#include <string>
#include <string_view>

#include "ir/graph.h"

namespace mirage::codegen {

/// The storage type's name in generated code.
std::string_view type_name(ir::DType dtype);

/// A number as a C++ expression of type T, exact.
std::string number(double value);

/// The storage type's name in Triton, and in PyTorch, after `tl.` and `torch.`.
std::string_view triton_type_name(ir::DType dtype);

/// A number as a Python expression, exact as a double.
std::string python_number(double value);

/// Text of a vector expression of device/cpu or device/cuda for a Map operator on these operands.
std::string map_text(ir::OpKind kind, const ir::Attrs& attrs,
                     std::span<const std::string> operands);

/// The same for tiles of type `compute` in Triton. The text may call the functions `larger` and
/// `smaller`, which yield NaN where an operand is.
std::string triton_text(ir::DType compute, ir::OpKind kind, const ir::Attrs& attrs,
                        std::span<const std::string> operands);

}  // namespace mirage::codegen
