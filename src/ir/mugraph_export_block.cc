#include <array>

#include "ir/mugraph_export.h"
#include "ir/mugraph_format.h"
#include "ir/mugraph_patterns.h"

namespace mirage::ir::mugraph {
namespace {

class BlockExport {
 public:
  BlockExport(const Graph& body, std::span<const Json> inputs, std::span<const Json> outputs,
              Epoch epoch, Guids& guids)
      : body_(body),
        inputs_(inputs),
        outputs_(outputs),
        epoch_(epoch),
        guids_(guids),
        matches_(find_compositions(body)),
        phases_(phases_of(body)),
        tensors_(body.values.size()),
        accumulated_(body.values.size()),
        input_index_(body.values.size()) {
    for (size_t i = 0; i < body.inputs.size(); ++i) input_index_[body.inputs[i].index] = i;
  }

  Result<Json> run(std::vector<size_t>& loads) {
    MIRAGE_TRY_VOID(read_axes());
    MIRAGE_TRY_VOID(read_dimx());
    // The published reader wants all inputs first, in the order of the kernel's.
    for (const Op& op : body_.ops)
      if (op.kind == OpKind::Load) MIRAGE_TRY_VOID(in_place(op, export_load(op, loads)));
    size_t stores = 0;
    for (size_t i = 0; i < body_.ops.size(); ++i) {
      const Op& op = body_.ops[i];
      if (op.kind == OpKind::Load || matches_.is_absorbed[i]) continue;
      MIRAGE_TRY_VOID(in_place(op, op.kind == OpKind::Store ? export_store(op, outputs_[stores++])
                                                            : export_op(op, matches_.by_op[i])));
    }
    const int64_t threads = body_.launch.threads == 0 ? kDefaultThreads : body_.launch.threads;
    return Json{{"graph_level", "thread_block_graph"},
                {"grid_dim", int3_json(grid_)},
                {"block_dim", int3_json({threads, 1, 1})},
                {"forloop_range", loop_},
                {"reduction_dimx", dimx_},
                {"operators", std::move(operators_)},
                {"smem_offset", smem_}};
  }

 private:
  static Result<void> in_place(const Op& op, Result<void> done) {
    if (done) return done;
    Error error = std::move(done).error();
    error.message =
        fmt::format("{} %{}: {}", def(op.kind).name, op.results[0].index, error.message);
    return tl::unexpected(std::move(error));
  }

  /// Axes of one step have no meaning and are left out, as import does.
  Result<void> read_axes() {
    const auto& axes = body_.launch.axes;
    if (body_.launch.threads > kMaxThreads)
      return unsupported("the format has at most {} threads, found {}", kMaxThreads,
                         body_.launch.threads);
    dim_.assign(axes.size(), -1);
    int grid_axes = 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].trips == 1) continue;
      if (axes[i].trips > INT32_MAX)
        return unsupported("block axis {} has {} steps", axes[i].name, axes[i].trips);
      if (axes[i].role == Role::Grid) {
        if (grid_axes == 3) return unsupported("the format has at most 3 grid axes");
        dim_[i] = grid_axes;
        grid_[static_cast<size_t>(grid_axes++)] = axes[i].trips;
      } else if (axes[i].role == Role::Loop) {
        if (loop_ != 1) return unsupported("the format has one loop, the block has several");
        loop_ = axes[i].trips;
      } else {
        return unsupported("the format has no {} axes", name_of(axes[i].role));
      }
    }
    return {};
  }

  Result<void> read_dimx() {
    bool is_set = false;
    for (const Match& match : matches_.list) {
      if (match.dimx == 0) continue;
      if (is_set && match.dimx != dimx_)
        return unsupported("the block reduces to {} and to {}, the format has one reduction_dimx",
                           dimx_, match.dimx);
      dimx_ = match.dimx;
      is_set = true;
    }
    return {};
  }

  Result<Json> new_tensor(const TensorType& type, bool after_accum) {
    MIRAGE_TRY(Json json, tensor_json(type, guids_.next_block++, epoch_));
    json["layout"] = "SmemRowMajor";
    json["after_accum"] = after_accum;
    json["smem_offset"] = smem_;
    smem_ += element_count(type.shape) * bytes_of(type.dtype);
    return json;
  }

  Json operator_json(std::string_view name, std::vector<Json> inputs,
                     std::vector<Json> outputs) const {
    return {{"op_type", fmt::format("tb_{}_op", name)},
            {"input_tensors", std::move(inputs)},
            {"output_tensors", std::move(outputs)}};
  }

  /// The map of a load or store, and the axis that the loop splits (-1 for none).
  Result<std::pair<std::array<int64_t, 3>, int64_t>> maps(const Bind& bind,
                                                          const Shape& shape) const {
    std::array<int64_t, 3> grid_map{-1, -1, -1};
    int64_t loop_dim = -1;
    for (size_t i = 0; i < bind.size(); ++i) {
      int before = -1;  // the format has no order: x before y before z before the loop
      int64_t extent = shape[i];
      for (uint8_t axis : bind[i]) {
        const Axis& split = body_.launch.axes[axis];
        if (split.trips == 1) continue;
        const int position = split.role == Role::Loop ? 3 : dim_[axis];
        if (position < before)
          return unsupported("the format splits by grid axes in order and then by the loop");
        before = position;
        if (extent % split.trips != 0)
          return unsupported("the format has no ragged tiles: axis {} of {} over {} steps of {}", i,
                             to_string(shape), split.trips, split.name);
        extent /= split.trips;
        if (position == 3)
          loop_dim = static_cast<int64_t>(i);
        else
          grid_map[static_cast<size_t>(position)] = static_cast<int64_t>(i);
      }
    }
    return std::pair(grid_map, loop_dim);
  }

  Result<void> export_load(const Op& op, std::vector<size_t>& loads) {
    const size_t input = input_index_[op.operands[0].index];
    MIRAGE_TRY(const auto map, maps(op.attrs.bind, body_.type(op.operands[0]).shape));
    MIRAGE_TRY(tensors_[op.results[0].index], new_tensor(body_.type(op.results[0]), false));
    Json json = operator_json("input", {}, {tensors_[op.results[0].index]});
    json["dtensor"] = inputs_[input];
    json["input_map"] = int3_json(map.first);
    json["forloop_dim"] = map.second;
    operators_.push_back(std::move(json));
    loads.push_back(input);
    return {};
  }

  Result<void> export_store(const Op& op, const Json& output) {
    MIRAGE_TRY(const auto map, maps(op.attrs.bind, op.attrs.ints));
    MIRAGE_TRY(Json stored, after_loop(op.operands[0]));
    Json json = operator_json("output", {std::move(stored)}, {});
    json["dtensor"] = output;
    json["output_map"] = int3_json(map.first);
    operators_.push_back(std::move(json));
    return {};
  }

  /// The value as something that exists after the loop. The format accumulates also what does not
  /// change; over one step that is the value itself.
  Result<Json> after_loop(ValueId id) {
    if (phases_[id.index] == Phase::AfterLoop) return tensors_[id.index];
    if (loop_ != 1)
      return unsupported("%{} does not change with the loop and is read after it", id.index);
    Json& accumulated = accumulated_[id.index];
    if (accumulated.is_null()) {
      MIRAGE_TRY(accumulated, new_tensor(body_.type(id), true));
      operators_.push_back(
          operator_json(accumulator_name("nored"), {tensors_[id.index]}, {accumulated}));
    }
    return accumulated;
  }

  std::string accumulator_name(std::string_view what) const {
    return fmt::format("{}accum_{}", epoch_ == Epoch::Old ? "" : "forloop_", what);
  }

  Result<Json*> emit(const Op& op, std::string_view name, std::span<const ValueId> operands) {
    const bool is_after = phases_[op.results[0].index] == Phase::AfterLoop;
    const bool is_accumulator = name.starts_with("accum_") || name.starts_with("forloop_accum_");
    std::vector<Json> inputs, outputs;
    for (ValueId operand : operands) {
      if (is_after && !is_accumulator) {
        MIRAGE_TRY(Json input, after_loop(operand));
        inputs.push_back(std::move(input));
      } else {
        inputs.push_back(tensors_[operand.index]);
      }
    }
    for (ValueId result : op.results) {
      MIRAGE_TRY(tensors_[result.index], new_tensor(body_.type(result), is_after));
      outputs.push_back(tensors_[result.index]);
    }
    operators_.push_back(operator_json(name, std::move(inputs), std::move(outputs)));
    return &operators_.back();
  }

  Result<void> accumulate(const Op& op, std::string_view name, std::span<const ValueId> operands) {
    constexpr std::array kOldNames = {"nored", "red_ld_sum", "red_ld_rms", "redtox_ld_sum"};
    bool is_known = epoch_ == Epoch::New;
    for (std::string_view old_name : kOldNames) is_known |= old_name == name;
    if (!is_known) return unsupported("the old format has no accumulator {}", name);
    MIRAGE_TRY([[maybe_unused]] Json * json, emit(op, accumulator_name(name), operands));
    return {};
  }

  Result<void> with_axis(const Op& op, const std::string& name, int64_t axis, int64_t size,
                         std::span<const ValueId> operands) {
    if (axis > 2) return unsupported("the format reduces axes 0 to 2, found {}", axis);
    MIRAGE_TRY(Json * json, emit(op, name, operands));
    (*json)["reduce_dim"] = axis;
    (*json)["reduce_size"] = size;
    return {};
  }

  Result<void> export_match(const Op& op, const Match& match) {
    switch (match.pattern) {
      case Pattern::RmsNorm: {
        MIRAGE_TRY([[maybe_unused]] Json * json, emit(op, "rms_norm", {{match.x}}));
        return {};
      }
      case Pattern::AccumRms:
        return accumulate(op, "red_ld_rms", {{match.x}});
      case Pattern::AccumMean:
        return accumulate(op, "red_ld_mean", {{match.x}});
      case Pattern::AccumSum:
        return accumulate(op, "red_ld_sum", {{match.x}});
      case Pattern::AccumSumToDimx:
        return accumulate(op, "redtox_ld_sum", {{match.x}});
      case Pattern::AccumRescaleSum: {
        const ValueId operands[] = {match.x, op.operands[1]};
        return accumulate(op, "red_ld_sum_rescale", operands);
      }
      case Pattern::SumToDimx:
        return with_axis(op, fmt::format("reduction_{}_to_dimx", match.axis), match.axis,
                         match.dimx, {{match.x}});
    }
    return {};
  }

  Result<void> export_op(const Op& op, int match_index) {
    if (match_index >= 0) return export_match(op, matches_.list[static_cast<size_t>(match_index)]);
    if (def(op.kind).form == Form::Leaf) return unsupported("the format has no scalars");
    if (op.kind == OpKind::Sum)
      return with_axis(op, fmt::format("reduction_{}", op.attrs.axis), op.attrs.axis, 1,
                       op.operands);
    if (op.kind == OpKind::RunningMax && epoch_ == Epoch::New)
      return with_axis(op, fmt::format("reduction_{}_max", op.attrs.axis), op.attrs.axis, 1,
                       op.operands);
    if (op.kind == OpKind::AccumRescale) return accumulate(op, "nored_rescale", op.operands);
    if (op.kind == OpKind::Accum && op.attrs.combine == Combine::Sum)
      return accumulate(op, "nored", op.operands);
    if (op.kind == OpKind::Accum && op.attrs.combine == Combine::Max)
      return accumulate(op, "max", op.operands);
    if (op.kind == OpKind::Concat && op.operands.size() == 2 && op.attrs.axis <= 2) {
      MIRAGE_TRY(Json * json, emit(op, fmt::format("concat_{}", op.attrs.axis), op.operands));
      (*json)["concat_dim"] = op.attrs.axis;
      return {};
    }
    if (!published_reader_has(op.kind, Level::Block))
      return unsupported("the format has no such block operator");
    MIRAGE_TRY_VOID(check_shapes(op));
    MIRAGE_TRY([[maybe_unused]] Json * json, emit(op, def(op.kind).name, op.operands));
    return {};
  }

  Result<void> check_shapes(const Op& op) const {
    const Shape& first = body_.type(op.operands[0]).shape;
    for (ValueId operand : op.operands) {
      const Shape& shape = body_.type(operand).shape;
      if (shape.size() != first.size())
        return unsupported("the format has no operands of different rank, found {} and {}",
                           to_string(first), to_string(shape));
      for (size_t i = 0; op.kind == OpKind::MatMul && i + 2 < shape.size(); ++i)
        if (shape[i] != 1)
          return unsupported("the format has no batches in a block, found {}", to_string(shape));
    }
    return {};
  }

  const Graph& body_;
  std::span<const Json> inputs_, outputs_;
  Epoch epoch_;
  Guids& guids_;
  Matches matches_;
  std::vector<Phase> phases_;
  std::array<int64_t, 3> grid_{1, 1, 1};
  int64_t loop_ = 1;
  int64_t dimx_ = kDefaultReductionDimx;
  std::vector<int> dim_;             // by block axis: 0, 1, 2 for x, y, z
  int64_t smem_ = 0;                 // bytes
  std::vector<Json> tensors_;        // by ValueId
  std::vector<Json> accumulated_;    // by ValueId: its accumulator, where one had to be added
  std::vector<size_t> input_index_;  // by ValueId: which operand of the block
  Json operators_ = Json::array();
};

}  // namespace

Result<Json> export_block(const Graph& body, std::span<const Json> inputs,
                          std::span<const Json> outputs, Epoch epoch, Guids& guids,
                          std::vector<size_t>& loads) {
  return BlockExport(body, inputs, outputs, epoch, guids).run(loads);
}

}  // namespace mirage::ir::mugraph
