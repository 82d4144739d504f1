#pragma once
// Internal to the muGraph export: guids and tensors as the format writes them.

#include <nlohmann/json.hpp>

#include "ir/mugraph_json.h"

namespace mirage::ir::mugraph {

using Json = nlohmann::json;

/// Unique numbers for the tensors of one file, in the ranges that published files use.
struct Guids {
  int64_t next_kernel = 10000000;
  int64_t next_block = 20000000;
};

/// A tensor object without what only block tensors have. Unsupported for ranks and types that the
/// format lacks.
Result<Json> tensor_json(const TensorType& type, int64_t guid, Epoch epoch);
Json int3_json(const std::array<int64_t, 3>& values);

/// bgraph of a block operator. `inputs` are the tensors of the operands, `outputs` those of the
/// results; on return `loads` lists the operands in the order of the tb_input operators.
Result<Json> export_block(const Graph& body, std::span<const Json> inputs,
                          std::span<const Json> outputs, Epoch epoch, Guids& guids,
                          std::vector<size_t>& loads);

}  // namespace mirage::ir::mugraph
