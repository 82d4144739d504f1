// Block graphs of muGraph JSON. Where the published block has one operator that mixes reduction and
// accumulation, we add the composition; mugraph_export_block.cc recognises the same ones.

#include "ir/compose.h"
#include "ir/mugraph_format.h"
#include "ir/mugraph_import.h"

namespace mirage::ir::mugraph {
namespace {

using Results = std::vector<ValueId>;

struct Grid {
  std::array<int64_t, 3> blocks{};
  int64_t loop = 1;
  int64_t dimx = kDefaultReductionDimx;  // extent that "to dimx" reductions leave
  std::array<int, 3> axis{-1, -1, -1};   // index into Launch::axes of x, y, z; -1 for one block
  int loop_axis = -1;
};

constexpr std::array kGridNames = {"x", "y", "z"};

Result<Launch> read_launch(const Json& bgraph, const std::string& where, Grid& grid) {
  Launch launch;
  MIRAGE_TRY(grid.blocks, int3(bgraph, "grid_dim", where));
  MIRAGE_TRY(const auto threads, int3(bgraph, "block_dim", where));
  MIRAGE_TRY(grid.loop, integer(bgraph, "forloop_range", where));
  if (bgraph.contains("reduction_dimx")) {
    MIRAGE_TRY(grid.dimx, integer(bgraph, "reduction_dimx", where));
  }
  launch.threads = 1;
  for (size_t i = 0; i < 3; ++i) {
    if (grid.blocks[i] < 1)
      return bad_input("{}: \"grid_dim\" {} is {}, expected at least 1", where, kGridNames[i],
                       grid.blocks[i]);
    if (threads[i] < 1 || threads[i] > kMaxThreads)
      return bad_input("{}: \"block_dim\" {} is {}, expected 1 to {}", where, kGridNames[i],
                       threads[i], kMaxThreads);
    launch.threads *= threads[i];
    if (grid.blocks[i] == 1) continue;
    grid.axis[i] = static_cast<int>(launch.axes.size());
    launch.axes.push_back({kGridNames[i], Role::Grid, grid.blocks[i]});
  }
  if (grid.loop < 1)
    return bad_input("{}: \"forloop_range\" is {}, expected at least 1", where, grid.loop);
  if (grid.loop > 1) {
    grid.loop_axis = static_cast<int>(launch.axes.size());
    launch.axes.push_back({"i", Role::Loop, grid.loop});
  }
  return launch;
}

/// The map as our bind: for each tensor axis the grid axes of this map, x before y before z.
Result<Bind> grid_bind(const JsonOp& op, const char* key, size_t rank, const Grid& grid) {
  MIRAGE_TRY(const auto map, int3(*op.json, key, op.where));
  Bind bind(rank);
  for (size_t i = 0; i < 3; ++i) {
    if (map[i] < -1 || map[i] >= static_cast<int64_t>(rank))
      return bad_input("{}: \"{}\" {} is {}, expected -1 to {}", op.where, key, kGridNames[i],
                       map[i], static_cast<int64_t>(rank) - 1);
    if (map[i] >= 0 && grid.axis[i] >= 0)
      bind[static_cast<size_t>(map[i])].push_back(static_cast<uint8_t>(grid.axis[i]));
  }
  return bind;
}

class BlockImport {
 public:
  BlockImport(const JsonOp& kernel_op, const Values& kernel, Epoch epoch, const Grid& grid,
              GraphBuilder builder)
      : kernel_op_(kernel_op),
        kernel_(kernel),
        epoch_(epoch),
        grid_(grid),
        builder_(std::move(builder)),
        values_(builder_) {}

  Result<ImportedBlock> run(const Json& operators) {
    for (size_t i = 0; i < operators.size(); ++i) {
      MIRAGE_TRY(const JsonOp op,
                 read_op(operators[i], "tb_",
                         fmt::format("{}, block operator {}", kernel_op_.where, i), epoch_));
      MIRAGE_TRY_VOID(import_op(op));
    }
    if (operands_.size() != kernel_op_.inputs.size())
      return bad_input("{}: {} input tensors, but {} tb_input operators", kernel_op_.where,
                       kernel_op_.inputs.size(), operands_.size());
    if (stores_ != kernel_op_.outputs.size())
      return bad_input("{}: {} output tensors, but {} tb_output operators", kernel_op_.where,
                       kernel_op_.outputs.size(), stores_);
    auto body = builder_.finish();
    if (!body) return at_place(std::move(body).error(), kernel_op_.where);
    return ImportedBlock{std::move(*body), std::move(operands_)};
  }

 private:
  Result<void> import_op(const JsonOp& op) {
    if (op.name == "input") return import_input(op);
    MIRAGE_TRY(const Results operands, values_.operands(op));
    if (op.name == "output") return import_output(op, operands);
    auto results = compute(op, operands);
    if (!results) return tl::unexpected(std::move(results).error());
    return values_.define(op, *results);
  }

  Result<void> import_input(const JsonOp& op) {
    MIRAGE_TRY_VOID(expect_operands(op, 0));
    const size_t index = operands_.size();
    MIRAGE_TRY(const Json* json, member(*op.json, "dtensor", op.where));
    MIRAGE_TRY(const Tensor source, tensor(*json, epoch_, op.where + ", dtensor"));
    if (index >= kernel_op_.inputs.size() || kernel_op_.inputs[index].guid != source.guid)
      return bad_input("{}: dtensor guid {} is not input {} of the kernel", op.where, source.guid,
                       index);
    MIRAGE_TRY(const ValueId outer, kernel_.find(source, op.where));
    operands_.push_back(outer);

    Attrs attrs;
    const size_t rank = source.type.shape.size();
    MIRAGE_TRY(attrs.bind, grid_bind(op, "input_map", rank, grid_));
    MIRAGE_TRY(const int64_t loop_dim, integer(*op.json, "forloop_dim", op.where));
    if (loop_dim < -1 || loop_dim >= static_cast<int64_t>(rank))
      return bad_input("{}: \"forloop_dim\" is {}, expected -1 to {}", op.where, loop_dim,
                       static_cast<int64_t>(rank) - 1);
    if (loop_dim >= 0 && grid_.loop_axis >= 0)
      attrs.bind[static_cast<size_t>(loop_dim)].push_back(static_cast<uint8_t>(grid_.loop_axis));
    MIRAGE_TRY_VOID(check_divides(op, source.type.shape, attrs.bind));

    auto input = builder_.input(source.type);
    if (!input) return at_place(std::move(input).error(), op.where);
    return store_result(op, builder_.add(OpKind::Load, {*input}, std::move(attrs)));
  }

  /// Ragged tiles are ours; in this format every division is exact.
  Result<void> check_divides(const JsonOp& op, const Shape& shape, const Bind& bind) const {
    const Launch& launch = builder_.draft().launch;
    for (size_t i = 0; i < shape.size(); ++i)
      for (int64_t extent = shape[i]; uint8_t axis : bind[i]) {
        const Axis& split = launch.axes[axis];
        if (extent % split.trips != 0)
          return bad_input("{}: axis {} of extent {} does not divide by {} {} {}", op.where, i,
                           extent, split.role == Role::Grid ? "grid_dim" : "forloop_range",
                           split.role == Role::Grid ? split.name : "of", split.trips);
        extent /= split.trips;
      }
    return {};
  }

  Result<void> import_output(const JsonOp& op, const Results& operands) {
    MIRAGE_TRY_VOID(expect_operands(op, 1));
    if (op.json->contains("forloop_dim")) {
      MIRAGE_TRY(const int64_t loop_dim, integer(*op.json, "forloop_dim", op.where));
      if (loop_dim != -1)
        return unsupported("{}: stores inside the loop (forloop_dim {})", op.where, loop_dim);
    }
    if (stores_ >= kernel_op_.outputs.size())
      return bad_input("{}: the kernel has only {} output tensors", op.where,
                       kernel_op_.outputs.size());
    const Tensor& expected = kernel_op_.outputs[stores_++];
    if (op.json->contains("dtensor")) {
      MIRAGE_TRY(const Json* json, member(*op.json, "dtensor", op.where));
      MIRAGE_TRY(const Tensor target, tensor(*json, epoch_, op.where + ", dtensor"));
      if (target.guid != expected.guid)
        return bad_input("{}: dtensor guid {} is not output {} of the kernel", op.where,
                         target.guid, stores_ - 1);
    }
    Attrs attrs;
    const size_t rank = builder_.type(operands[0]).shape.size();
    MIRAGE_TRY(attrs.bind, grid_bind(op, "output_map", rank, grid_));
    auto result = builder_.add(OpKind::Store, {operands[0]}, std::move(attrs));
    if (!result) return at_place(std::move(result).error(), op.where);
    return {};
  }

  Result<void> store_result(const JsonOp& op, Result<ValueId> id) {
    if (!id) return at_place(std::move(id).error(), op.where);
    return values_.define(op, Results{*id});
  }

  Result<Results> compute(const JsonOp& op, const Results& operands) {
    std::string_view name = op.name;
    if (name.starts_with("forloop_accum_")) return accumulate(op, name.substr(14), operands);
    if (name.starts_with("accum_")) return accumulate(op, name.substr(6), operands);
    if (name == "concat_then_matmul") return concat_then_matmul(op, operands);
    MIRAGE_TRY(const auto max_axis, named_axis(op, "reduction_", "_max", "reduce_dim"));
    if (max_axis) {
      Attrs attrs;
      attrs.axis = *max_axis;
      return placed(op, builder_.add_all(OpKind::RunningMax, operands, std::move(attrs)));
    }
    MIRAGE_TRY(const auto dimx_axis, named_axis(op, "reduction_", "_to_dimx", "reduce_dim"));
    if (dimx_axis) {
      MIRAGE_TRY_VOID(expect_operands(op, 1));
      return placed(op, sum_to_dimx(op, operands[0], *dimx_axis));
    }
    MIRAGE_TRY(auto results, shared_op(builder_, op, operands));
    if (!results) return bad_input("{}: unknown operator", op.where);
    return std::move(*results);
  }

  static Result<Results> placed(const JsonOp& op, Result<Results> results) {
    if (!results) return at_place(std::move(results).error(), op.where);
    return results;
  }
  static Result<Results> placed(const JsonOp& op, Result<ValueId> id) {
    if (!id) return at_place(std::move(id).error(), op.where);
    return Results{*id};
  }

  Result<ValueId> add_axis(OpKind kind, ValueId x, int64_t axis) {
    Attrs attrs;
    attrs.axis = axis;
    return builder_.add(kind, {x}, std::move(attrs));
  }
  Result<ValueId> reshape(ValueId x, Shape shape) {
    Attrs attrs;
    attrs.ints = std::move(shape);
    return builder_.add(OpKind::Reshape, {x}, std::move(attrs));
  }
  Result<ValueId> accum(Combine combine, ValueId x) {
    Attrs attrs;
    attrs.combine = combine;
    return builder_.add(OpKind::Accum, {x}, std::move(attrs));
  }

  /// Extent n of the axis becomes r = reduction_dimx: out[j] = sum over s of in[s * r + j].
  Result<ValueId> sum_to_dimx(const JsonOp&, ValueId x, int64_t axis) {
    const Shape shape = builder_.type(x).shape;
    if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
      return bad_input("axis {} is out of range for rank {}", axis, shape.size());
    const size_t at = static_cast<size_t>(axis);
    if (grid_.dimx < 1 || shape[at] % grid_.dimx != 0)
      return bad_input("axis {} of extent {} does not divide by reduction_dimx {}", axis, shape[at],
                       grid_.dimx);
    Shape groups = shape, result = shape;
    groups[at] = shape[at] / grid_.dimx;
    groups.insert(groups.begin() + axis + 1, grid_.dimx);
    result[at] = grid_.dimx;
    MIRAGE_TRY(const ValueId split, reshape(x, std::move(groups)));
    MIRAGE_TRY(const ValueId sum, add_axis(OpKind::Sum, split, axis));
    return reshape(sum, std::move(result));
  }

  Result<ValueId> accumulate_one(const JsonOp& op, std::string_view name, ValueId x) {
    if (name == "nored") return accum(Combine::Sum, x);
    if (name == "max") return accum(Combine::Max, x);
    const int64_t last = static_cast<int64_t>(builder_.type(x).shape.size()) - 1;
    if (name == "redtox_ld_sum") {
      MIRAGE_TRY(x, sum_to_dimx(op, x, last));
      return accum(Combine::Sum, x);
    }
    if (name == "red_ld_sum") {
      MIRAGE_TRY(x, add_axis(OpKind::Sum, x, last));
      return accum(Combine::Sum, x);
    }
    const bool is_rms = name == "red_ld_rms";
    if (!is_rms && name != "red_ld_mean") return bad_input("unknown accumulator");
    if (is_rms) {
      MIRAGE_TRY(x, builder_.add(OpKind::Square, {x}));
    }
    MIRAGE_TRY(x, add_axis(OpKind::Mean, x, last));
    MIRAGE_TRY(x, accum(Combine::Mean, x));
    if (!is_rms) return x;
    return builder_.add(OpKind::Sqrt, {x});
  }

  Result<ValueId> accumulate_rescaled(std::string_view name, ValueId x, ValueId factor) {
    if (name == "red_ld_sum_rescale") {
      MIRAGE_TRY(x, add_axis(OpKind::Sum, x, -1));
    }
    return builder_.add(OpKind::AccumRescale, {x, factor});
  }

  Result<Results> accumulate(const JsonOp& op, std::string_view name, const Results& operands) {
    const bool is_rescale = name == "nored_rescale" || name == "red_ld_sum_rescale";
    MIRAGE_TRY_VOID(expect_operands(op, is_rescale ? 2 : 1));
    return placed(op, is_rescale ? accumulate_rescaled(name, operands[0], operands[1])
                                 : accumulate_one(op, name, operands[0]));
  }

  /// concat(a, b, last axis) times concat(c, d, last axis but one).
  Result<Results> concat_then_matmul(const JsonOp& op, const Results& operands) {
    MIRAGE_TRY_VOID(expect_operands(op, 4));
    Attrs left, right;
    left.axis = -1;
    right.axis = -2;
    auto a = builder_.add(OpKind::Concat, {operands[0], operands[1]}, std::move(left));
    if (!a) return at_place(std::move(a).error(), op.where);
    auto b = builder_.add(OpKind::Concat, {operands[2], operands[3]}, std::move(right));
    if (!b) return at_place(std::move(b).error(), op.where);
    return placed(op, builder_.add(OpKind::MatMul, {*a, *b}));
  }

  const JsonOp& kernel_op_;
  const Values& kernel_;
  Epoch epoch_;
  const Grid& grid_;
  GraphBuilder builder_;
  Values values_;
  Results operands_;
  size_t stores_ = 0;
};

}  // namespace

Result<ImportedBlock> import_block(const JsonOp& op, const Values& kernel, Epoch epoch) {
  MIRAGE_TRY(const Json* bgraph, member(*op.json, "bgraph", op.where));
  Grid grid;
  MIRAGE_TRY(Launch launch, read_launch(*bgraph, op.where, grid));
  MIRAGE_TRY(const Json* operators, array(*bgraph, "operators", op.where));
  auto builder = GraphBuilder::block(std::move(launch));
  if (!builder) return at_place(std::move(builder).error(), op.where);
  return BlockImport(op, kernel, epoch, grid, std::move(*builder)).run(*operators);
}

}  // namespace mirage::ir::mugraph
