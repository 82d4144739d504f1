#pragma once
// The vocabulary of muGraph JSON that import and export share: dtype codes, operators that mean the
// same here and there, names and limits.

#include <optional>
#include <span>
#include <string_view>

#include "ir/mugraph_json.h"

namespace mirage::ir::mugraph {

constexpr size_t kMaxDims = 4;
constexpr int64_t kDefaultReductionDimx = 64;
constexpr int64_t kDefaultThreads = 128;
constexpr int64_t kMaxThreads = 1024;  // along each dimension of block_dim

std::optional<DType> dtype_of(int64_t code, Epoch epoch);
/// Nothing for a type that the format does not have.
std::optional<int64_t> code_of(DType dtype, Epoch epoch);

/// Operators with one name, the same operands and no attributes in both worlds, at a level. Import
/// takes all; export writes those that the published reader implements.
std::optional<OpKind> plain_op(std::string_view name);
bool published_reader_has(OpKind kind, Level level);

}  // namespace mirage::ir::mugraph
