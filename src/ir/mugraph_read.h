#pragma once
// Typed access to JSON of unknown origin: every accessor says what it expected and found. `where`
// names the place, such as "graph 3, operator 5 (kn_matmul_op)".

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ir/mugraph_json.h"

namespace mirage::ir::mugraph {

using Json = nlohmann::json;

/// BadInput with the byte where the text stops being JSON, or where it is nested too deep, has too
/// many values or one key twice: memory is bounded by a small multiple of the text.
Result<Json> parse_json(std::string_view text);
/// The beginning of a text of unknown origin, for a message: one line of plain characters.
std::string shown(std::string_view text);

/// The member, which must exist.
Result<const Json*> member(const Json& object, const char* key, const std::string& where);
Result<int64_t> integer(const Json& object, const char* key, const std::string& where);
Result<double> number(const Json& object, const char* key, const std::string& where);
Result<std::string> string(const Json& object, const char* key, const std::string& where);
Result<const Json*> array(const Json& object, const char* key, const std::string& where);
Result<std::vector<int64_t>> integers(const Json& object, const char* key,
                                      const std::string& where);
/// {"x": .., "y": .., "z": ..}
Result<std::array<int64_t, 3>> int3(const Json& object, const char* key, const std::string& where);

struct Tensor {
  int64_t guid = 0;
  TensorType type;
};
Result<Tensor> tensor(const Json& json, Epoch epoch, const std::string& where);
Result<std::vector<Tensor>> tensors(const Json& object, const char* key, Epoch epoch,
                                    const std::string& where);

}  // namespace mirage::ir::mugraph
