#pragma once
// Element types. The list is dtype.def; names are those of the text format and of Python.

#include <cstdint>
#include <optional>
#include <string_view>

namespace mirage::ir {

enum class DType : uint8_t {
#define DTYPE(id, name, bits, kind) id,
#include "ir/dtype.def"
#undef DTYPE
};

enum class DTypeClass : uint8_t { Float, Signed, Unsigned };

std::string_view name_of(DType dtype);
int64_t bytes_of(DType dtype);
DTypeClass class_of(DType dtype);
/// The type of that name, or nothing.
std::optional<DType> dtype_named(std::string_view name);

}  // namespace mirage::ir
