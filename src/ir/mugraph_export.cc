#include "ir/mugraph_export.h"

#include <algorithm>

#include "ir/mugraph_format.h"
#include "ir/mugraph_patterns.h"

namespace mirage::ir {
namespace mugraph {

Json int3_json(const std::array<int64_t, 3>& values) {
  return {{"x", values[0]}, {"y", values[1]}, {"z", values[2]}};
}

Result<Json> tensor_json(const TensorType& type, int64_t guid, Epoch epoch) {
  const auto code = code_of(type.dtype, epoch);
  if (!code) return unsupported("the format has no element type {}", name_of(type.dtype));
  if (type.shape.empty() || type.shape.size() > kMaxDims)
    return unsupported("the format has 1 to {} axes, found {}", kMaxDims, to_string(type));
  Shape dims = type.shape;
  for (int64_t extent : dims)
    if (extent > INT32_MAX) return unsupported("the format has 32-bit extents, found {}", extent);
  dims.resize(kMaxDims, 0);
  return Json{{"data_type", *code},
              {"dim", dims},
              {"guid", guid},
              {"layout", "DmemRowMajor"},
              {"num_dims", type.shape.size()}};
}

namespace {

class KernelExport {
 public:
  KernelExport(const Graph& graph, Epoch epoch, Guids& guids)
      : graph_(graph),
        epoch_(epoch),
        guids_(guids),
        matches_(find_compositions(graph)),
        tensors_(graph.values.size()) {}

  Result<Json> run() {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const ValueId input = graph_.inputs[i];
      MIRAGE_TRY_VOID(new_tensor(input));
      Json op = operator_json("input", {}, {input});
      const Strides& strides = graph_.input_strides[i];
      op["input_strides"] = strides.empty() ? row_major_strides(graph_.type(input).shape) : strides;
      op["input_map"] = int3_json({-1, -1, -1});
      operators_.push_back(std::move(op));
    }
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      if (matches_.is_absorbed[i]) continue;
      auto done = export_op(graph_.ops[i], matches_.by_op[i]);
      if (!done) {
        Error error = std::move(done).error();
        error.message = fmt::format("{} %{}: {}", def(graph_.ops[i].kind).name,
                                    graph_.ops[i].results[0].index, error.message);
        return tl::unexpected(std::move(error));
      }
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const ValueId output = graph_.outputs[i];
      Json op = operator_json("output", {output}, {});
      const Strides& strides = graph_.output_strides[i];
      op["output_strides"] =
          strides.empty() ? row_major_strides(graph_.type(output).shape) : strides;
      op["output_map"] = int3_json({-1, -1, -1});
      operators_.push_back(std::move(op));
    }
    return std::move(operators_);
  }

 private:
  Result<void> new_tensor(ValueId id) {
    MIRAGE_TRY(tensors_[id.index], tensor_json(graph_.type(id), guids_.next_kernel++, epoch_));
    return {};
  }

  Json operator_json(const std::string& name, std::span<const ValueId> inputs,
                     std::span<const ValueId> outputs) const {
    Json op = {{"op_type", "kn_" + name + "_op"}};
    Json& input_list = op["input_tensors"] = Json::array();
    Json& output_list = op["output_tensors"] = Json::array();
    for (ValueId id : inputs) input_list.push_back(tensors_[id.index]);
    for (ValueId id : outputs) output_list.push_back(tensors_[id.index]);
    return op;
  }
  Json operator_json(const std::string& name, std::initializer_list<ValueId> inputs,
                     std::initializer_list<ValueId> outputs) const {
    return operator_json(name, std::span(inputs.begin(), inputs.size()),
                         std::span(outputs.begin(), outputs.size()));
  }

  Result<void> emit(const Op& op, const std::string& name, std::span<const ValueId> operands) {
    for (ValueId result : op.results) MIRAGE_TRY_VOID(new_tensor(result));
    operators_.push_back(operator_json(name, operands, op.results));
    return {};
  }

  Result<void> export_op(const Op& op, int match_index) {
    if (op.kind == OpKind::Block) return export_customized(op);
    if (match_index >= 0) {
      const Match& match = matches_.list[static_cast<size_t>(match_index)];
      if (match.pattern == Pattern::RmsNorm) return emit(op, "rms_norm", {{match.x}});
    }
    if (def(op.kind).form == Form::Leaf) return unsupported("the format has no scalars");
    if (op.kind == OpKind::Sum && op.attrs.axis <= 2)
      return emit(op, fmt::format("reduction_{}", op.attrs.axis), op.operands);
    if (!published_reader_has(op.kind, Level::Kernel))
      return unsupported("the format has no such kernel operator");
    MIRAGE_TRY_VOID(check_shapes(op));
    return emit(op, std::string(def(op.kind).name), op.operands);
  }

  /// Ranks must be equal, and batch extents of a product too.
  Result<void> check_shapes(const Op& op) const {
    const Shape& first = graph_.type(op.operands[0]).shape;
    for (ValueId operand : op.operands) {
      const Shape& shape = graph_.type(operand).shape;
      if (shape.size() != first.size())
        return unsupported("the format has no operands of different rank, found {} and {}",
                           to_string(first), to_string(shape));
      for (size_t i = 0; op.kind == OpKind::MatMul && i + 2 < shape.size(); ++i)
        if (shape[i] != first[i])
          return unsupported("the format does not broadcast batches, found {} and {}",
                             to_string(first), to_string(shape));
    }
    return {};
  }

  Result<void> export_customized(const Op& op) {
    std::vector<Json> inputs, outputs;
    for (ValueId operand : op.operands) inputs.push_back(tensors_[operand.index]);
    for (ValueId result : op.results) {
      MIRAGE_TRY_VOID(new_tensor(result));
      outputs.push_back(tensors_[result.index]);
    }
    std::vector<size_t> loads;
    MIRAGE_TRY(Json bgraph, export_block(*op.body, inputs, outputs, epoch_, guids_, loads));
    std::vector<ValueId> loaded;
    for (size_t input : loads) loaded.push_back(op.operands[input]);
    Json json = operator_json("customized", loaded, op.results);
    json["bgraph"] = std::move(bgraph);
    operators_.push_back(std::move(json));
    return {};
  }

  const Graph& graph_;
  Epoch epoch_;
  Guids& guids_;
  Matches matches_;
  std::vector<Json> tensors_;  // by ValueId
  Json operators_ = Json::array();
};

}  // namespace
}  // namespace mugraph

Result<std::string> export_mugraphs(std::span<const GraphPtr> graphs, Epoch epoch) {
  mugraph::Json file = mugraph::Json::array();
  for (size_t i = 0; i < graphs.size(); ++i) {
    if (graphs[i]->level != Level::Kernel)
      return unsupported("graph {}: only kernel graphs can be exported, this is a {} graph", i,
                         name_of(graphs[i]->level));
    mugraph::Guids guids;
    auto json = mugraph::KernelExport(*graphs[i], epoch, guids).run();
    if (!json) {
      Error error = std::move(json).error();
      error.message = fmt::format("graph {}: {}", i, error.message);
      return tl::unexpected(std::move(error));
    }
    file.push_back(std::move(*json));
  }
  return file.dump() + "\n";
}

}  // namespace mirage::ir
