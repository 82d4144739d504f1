#pragma once
// How C++ over device/cpu writes scalars: the one table of spellings, and the domain that turns the
// bodies of Map operators into text.

#include <string>
#include <string_view>

#include "ir/graph.h"

namespace mirage::codegen {

/// The storage type's name in generated code.
std::string_view type_name(ir::DType dtype);

/// A number as a C++ expression of type T, exact.
std::string number(double value);

/// Text of a vector expression for a Map operator on these operands.
std::string map_text(ir::OpKind kind, const ir::Attrs& attrs,
                     std::span<const std::string> operands);

}  // namespace mirage::codegen
