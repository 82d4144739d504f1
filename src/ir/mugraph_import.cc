#include "ir/mugraph_import.h"

#include <algorithm>

#include "ir/compose.h"
#include "ir/mugraph_format.h"

namespace mirage::ir {
namespace mugraph {

tl::unexpected<Error> at_place(Error error, const std::string& where) {
  error.message = fmt::format("{}: {}", where, error.message);
  return tl::unexpected(std::move(error));
}

Result<JsonOp> read_op(const Json& json, std::string_view prefix, const std::string& place,
                       Epoch epoch) {
  JsonOp op;
  op.json = &json;
  MIRAGE_TRY(const std::string type, string(json, "op_type", place));
  if (!type.starts_with(prefix) || !type.ends_with("_op") || type.size() < prefix.size() + 4 ||
      shown(type) != type)
    return bad_input("{}: unknown operator \"{}\", expected {}..._op", place, shown(type), prefix);
  op.where = fmt::format("{} ({})", place, type);
  op.name = type.substr(prefix.size(), type.size() - prefix.size() - 3);
  MIRAGE_TRY(op.inputs, tensors(json, "input_tensors", epoch, op.where));
  MIRAGE_TRY(op.outputs, tensors(json, "output_tensors", epoch, op.where));
  return op;
}

Result<ValueId> Values::find(const Tensor& tensor, const std::string& where) const {
  const auto at = by_guid_.find(tensor.guid);
  if (at == by_guid_.end())
    return bad_input("{}: guid {} is not made by an earlier operator", where, tensor.guid);
  if (builder_.type(at->second) != tensor.type)
    return bad_input("{}: guid {} is stored as {}, but is {}", where, tensor.guid,
                     to_string(tensor.type), to_string(builder_.type(at->second)));
  return at->second;
}

Result<std::vector<ValueId>> Values::operands(const JsonOp& op) const {
  std::vector<ValueId> ids;
  for (const Tensor& input : op.inputs) {
    MIRAGE_TRY(const ValueId id, find(input, op.where));
    ids.push_back(id);
  }
  return ids;
}

Result<void> Values::define(const Tensor& tensor, ValueId id, const std::string& where) {
  if (builder_.type(id) != tensor.type)
    return bad_input("{}: result {} is stored as {}, but is {}", where, tensor.guid,
                     to_string(tensor.type), to_string(builder_.type(id)));
  if (!by_guid_.emplace(tensor.guid, id).second)
    return bad_input("{}: guid {} is made twice", where, tensor.guid);
  return {};
}

Result<void> Values::define(const JsonOp& op, std::span<const ValueId> results) {
  if (results.size() != op.outputs.size())
    return bad_input("{}: expected {} result{}, found {}", op.where, results.size(),
                     results.size() == 1 ? "" : "s", op.outputs.size());
  for (size_t i = 0; i < results.size(); ++i)
    MIRAGE_TRY_VOID(define(op.outputs[i], results[i], op.where));
  return {};
}

Result<void> expect_operands(const JsonOp& op, size_t count) {
  if (op.inputs.size() != count)
    return bad_input("{}: expected {} operand{}, found {}", op.where, count, count == 1 ? "" : "s",
                     op.inputs.size());
  return {};
}

Result<std::optional<int64_t>> named_axis(const JsonOp& op, std::string_view prefix,
                                          std::string_view suffix, const char* key) {
  const std::string_view name = op.name;
  if (name.size() != prefix.size() + 1 + suffix.size() || !name.starts_with(prefix) ||
      !name.ends_with(suffix))
    return std::nullopt;
  const char digit = name[prefix.size()];
  if (digit != 'd' && (digit < '0' || digit > '9')) return std::nullopt;
  const bool is_stored = op.json->contains(key);
  if (digit == 'd' || is_stored) {
    MIRAGE_TRY(const int64_t stored, integer(*op.json, key, op.where));
    if (digit != 'd' && stored != digit - '0')
      return bad_input("{}: \"{}\" is {}, but the name says {}", op.where, key, stored, digit);
    return stored;
  }
  return digit - '0';
}

namespace {

using Results = std::vector<ValueId>;

Result<std::optional<Results>> one(Result<ValueId> id, const std::string& where) {
  if (!id) return at_place(std::move(id).error(), where);
  return Results{*id};
}

/// Scalars that the published writer loses; ours and repaired files have them.
Result<double> scalar(const JsonOp& op, const char* key) {
  if (!op.json->contains(key))
    return unsupported("{}: the file lost its scalar: expected \"{}\"", op.where, key);
  return number(*op.json, key, op.where);
}

Result<std::optional<Results>> scalar_op(GraphBuilder& builder, const JsonOp& op,
                                         std::span<const ValueId> operands) {
  MIRAGE_TRY_VOID(expect_operands(op, 1));
  if (op.name == "mul_scalar") {
    MIRAGE_TRY(const double value, scalar(op, "scalar"));
    auto factor = builder.constant(value);
    if (!factor) return at_place(std::move(factor).error(), op.where);
    return one(builder.add(OpKind::Mul, {operands[0], *factor}), op.where);
  }
  Attrs attrs;
  MIRAGE_TRY(const double lo, scalar(op, "min_val"));
  MIRAGE_TRY(const double hi, scalar(op, "max_val"));
  attrs.scalars = {lo, hi};
  return one(builder.add(OpKind::Clamp, {operands[0]}, std::move(attrs)), op.where);
}

/// Parts along an axis with the extents of the stored results.
Result<std::optional<Results>> split_op(GraphBuilder& builder, const JsonOp& op, ValueId x,
                                        int64_t axis) {
  std::vector<int64_t> extents;
  for (const Tensor& output : op.outputs) {
    if (axis < 0 || axis >= static_cast<int64_t>(output.type.shape.size()))
      return bad_input("{}: axis {} is out of range for {}", op.where, axis,
                       to_string(output.type));
    extents.push_back(output.type.shape[static_cast<size_t>(axis)]);
  }
  auto parts = split(builder, x, extents, axis);
  if (!parts) return at_place(std::move(parts).error(), op.where);
  return std::move(*parts);
}

/// x / rms(x). The format does not store how many axes are normalised; without our optional
/// "normalized_shape" it is the last one, as in every published program.
Result<std::optional<Results>> rms_norm_op(GraphBuilder& builder, const JsonOp& op, ValueId x) {
  Result<ValueId> result;
  if (op.json->contains("normalized_shape")) {
    MIRAGE_TRY(const Shape shape, integers(*op.json, "normalized_shape", op.where));
    result = rms_norm(builder, x, shape);
  } else {
    result = rms_norm(builder, x);
  }
  return one(std::move(result), op.where);
}

}  // namespace

Result<std::optional<Results>> shared_op(GraphBuilder& builder, const JsonOp& op,
                                         std::span<const ValueId> operands) {
  if (const auto kind = plain_op(op.name)) return one(builder.add(*kind, operands), op.where);
  if (op.name == "mul_scalar" || op.name == "clamp") return scalar_op(builder, op, operands);
  if (op.name == "rms_norm") {
    MIRAGE_TRY_VOID(expect_operands(op, 1));
    return rms_norm_op(builder, op, operands[0]);
  }
  Attrs attrs;
  MIRAGE_TRY(const auto sum_axis, named_axis(op, "reduction_", "", "reduce_dim"));
  if (sum_axis) {
    attrs.axis = *sum_axis;
    return one(builder.add(OpKind::Sum, operands, std::move(attrs)), op.where);
  }
  MIRAGE_TRY(const auto concat_axis, named_axis(op, "concat_", "", "concat_dim"));
  if (concat_axis) {
    attrs.axis = *concat_axis;
    return one(builder.add(OpKind::Concat, operands, std::move(attrs)), op.where);
  }
  MIRAGE_TRY(const auto split_axis, named_axis(op, "split_", "", "split_dim"));
  if (split_axis) {
    MIRAGE_TRY_VOID(expect_operands(op, 1));
    return split_op(builder, op, operands[0], *split_axis);
  }
  return std::optional<Results>();
}

namespace {

Result<void> import_input(GraphBuilder& builder, Values& values, const JsonOp& op) {
  MIRAGE_TRY_VOID(expect_operands(op, 0));
  if (op.outputs.size() != 1)
    return bad_input("{}: expected one result, found {}", op.where, op.outputs.size());
  Strides strides;
  if (op.json->contains("input_strides")) {
    MIRAGE_TRY(strides, integers(*op.json, "input_strides", op.where));
  }
  auto id = builder.input(op.outputs[0].type, {}, std::move(strides));
  if (!id) return at_place(std::move(id).error(), op.where);
  return values.define(op.outputs[0], *id, op.where);
}

/// Equal parts; the stored size is their number in one version and their extent in another, so it
/// must agree with the results in one of the two senses.
Result<Results> import_chunk(GraphBuilder& builder, const JsonOp& op, ValueId x, int64_t axis) {
  const int64_t count = static_cast<int64_t>(op.outputs.size());
  auto parts = chunk(builder, x, count, axis);
  if (!parts) return at_place(std::move(parts).error(), op.where);
  if (op.json->contains("chunk_size")) {
    MIRAGE_TRY(const int64_t size, integer(*op.json, "chunk_size", op.where));
    const int64_t extent = builder.type(parts->at(0)).shape[static_cast<size_t>(axis)];
    if (size != count && size != extent)
      return bad_input("{}: \"chunk_size\" {} is neither the {} results nor their extent {}",
                       op.where, size, count, extent);
  }
  return parts;
}

Result<Results> import_customized(GraphBuilder& builder, const Values& values, const JsonOp& op,
                                  Epoch epoch) {
  MIRAGE_TRY(ImportedBlock block, import_block(op, values, epoch));
  auto results = builder.add_block(std::move(block.body), block.operands);
  if (!results) return at_place(std::move(results).error(), op.where);
  return results;
}

Result<void> import_op(GraphBuilder& builder, Values& values, const JsonOp& op, Epoch epoch) {
  MIRAGE_TRY(const Results operands, values.operands(op));
  if (op.name == "customized") {
    MIRAGE_TRY(const Results results, import_customized(builder, values, op, epoch));
    return values.define(op, results);
  }
  if (op.name == "allreduce")
    return unsupported("{}: there is no reduction over devices here", op.where);
  MIRAGE_TRY(const auto chunk_axis, named_axis(op, "chunk_", "", "chunk_dim"));
  if (chunk_axis) {
    MIRAGE_TRY_VOID(expect_operands(op, 1));
    MIRAGE_TRY(const Results results, import_chunk(builder, op, operands[0], *chunk_axis));
    return values.define(op, results);
  }
  MIRAGE_TRY(const auto results, shared_op(builder, op, operands));
  if (!results) return bad_input("{}: unknown operator", op.where);
  return values.define(op, *results);
}

Result<GraphPtr> import_graph(const Json& json, size_t index, Epoch epoch) {
  const std::string place = fmt::format("graph {}", index);
  if (!json.is_array())
    return bad_input("{}: expected a list of operators, found {}", place, json.type_name());
  GraphBuilder builder;
  Values values(builder);
  std::vector<ValueId> outputs;
  std::vector<Strides> output_strides;
  for (size_t i = 0; i < json.size(); ++i) {
    MIRAGE_TRY(const JsonOp op,
               read_op(json[i], "kn_", fmt::format("{}, operator {}", place, i), epoch));
    if (op.name == "input") {
      MIRAGE_TRY_VOID(import_input(builder, values, op));
    } else if (op.name == "output") {
      MIRAGE_TRY_VOID(expect_operands(op, 1));
      MIRAGE_TRY(const ValueId id, values.find(op.inputs[0], op.where));
      outputs.push_back(id);
      output_strides.emplace_back();
      if (op.json->contains("output_strides")) {
        MIRAGE_TRY(output_strides.back(), integers(*op.json, "output_strides", op.where));
      }
    } else {
      MIRAGE_TRY_VOID(import_op(builder, values, op, epoch));
    }
  }
  auto graph = builder.finish(outputs, output_strides);
  if (!graph) return at_place(std::move(graph).error(), place);
  return graph;
}

}  // namespace
}  // namespace mugraph

Result<std::vector<GraphPtr>> import_mugraphs(std::string_view json, Epoch epoch) {
  MIRAGE_TRY(const mugraph::Json file, mugraph::parse_json(json));
  if (!file.is_array())
    return bad_input("expected a list of graphs or of operators, found {}", file.type_name());
  if (file.empty()) return bad_input("the file has no graphs");
  std::vector<GraphPtr> graphs;
  if (file[0].is_object()) {  // one graph on its own
    MIRAGE_TRY(GraphPtr graph, mugraph::import_graph(file, 0, epoch));
    graphs.push_back(std::move(graph));
    return graphs;
  }
  for (size_t i = 0; i < file.size(); ++i) {
    MIRAGE_TRY(GraphPtr graph, mugraph::import_graph(file[i], i, epoch));
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

}  // namespace mirage::ir
