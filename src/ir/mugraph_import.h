#pragma once
// Internal to the muGraph import: values by guid, and what kernel and block operators share.

#include <unordered_map>

#include "ir/builder.h"
#include "ir/mugraph_read.h"

namespace mirage::ir::mugraph {

/// One operator object, read but not yet understood.
struct JsonOp {
  const Json* json = nullptr;
  std::string where;  // "graph 3, operator 5 (kn_matmul_op)"
  std::string name;   // without kn_ or tb_ and _op
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
};
/// `prefix` is "kn_" or "tb_"; `place` begins the messages.
Result<JsonOp> read_op(const Json& json, std::string_view prefix, const std::string& place,
                       Epoch epoch);

/// The values made so far, by guid, and the builder that makes them.
class Values {
 public:
  explicit Values(GraphBuilder& builder) : builder_(builder) {}

  /// The operands of an operator: earlier results with the stored types.
  Result<std::vector<ValueId>> operands(const JsonOp& op) const;
  Result<ValueId> find(const Tensor& tensor, const std::string& where) const;
  /// Enters results under the guids of op.outputs, after comparing number and types.
  Result<void> define(const JsonOp& op, std::span<const ValueId> results);
  Result<void> define(const Tensor& tensor, ValueId id, const std::string& where);

 private:
  GraphBuilder& builder_;
  std::unordered_map<int64_t, ValueId> by_guid_;
};

/// Operators that exist at both levels (mul_scalar, clamp, reduction_1, concat_0, split_0 and the
/// plain ones); nothing if op.name is not one of them.
Result<std::optional<std::vector<ValueId>>> shared_op(GraphBuilder& builder, const JsonOp& op,
                                                      std::span<const ValueId> operands);
/// The axis of "reduction_1", "concat_d" and so on: the digit, or for d the attribute `key`.
/// Nothing if the name is not prefix + axis + suffix.
Result<std::optional<int64_t>> named_axis(const JsonOp& op, std::string_view prefix,
                                          std::string_view suffix, const char* key);
Result<void> expect_operands(const JsonOp& op, size_t count);
/// Prefixes the builder's message with the place.
tl::unexpected<Error> at_place(Error error, const std::string& where);

struct ImportedBlock {
  GraphPtr body;
  std::vector<ValueId> operands;  // of the kernel graph
};
/// The bgraph of a kn_customized_op. `kernel` holds the values of the kernel graph.
Result<ImportedBlock> import_block(const JsonOp& op, const Values& kernel, Epoch epoch);

}  // namespace mirage::ir::mugraph
