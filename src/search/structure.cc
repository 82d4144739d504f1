#include "search/structure.h"

#include <algorithm>

#include "ir/builder.h"

namespace mirage::search {
namespace {

using ir::Attrs;
using ir::GraphBuilder;
using ir::OpKind;
using ir::ValueId;

constexpr size_t kNowhere = SIZE_MAX;

/// Where a class appears as an axis of a program input.
struct Place {
  size_t input = kNowhere;
  int64_t axis = 0;
};

Place place_of(const Problem& problem, ClassId id, const std::vector<bool>& preferred) {
  Place place;
  const auto& inputs = problem.program.inputs;
  for (bool only_preferred : {true, false})
    for (size_t i = 0; i < inputs.size() && place.input == kNowhere; ++i) {
      if (only_preferred && !preferred[i]) continue;
      const Dims& dims = problem.dims_of(inputs[i]);
      const auto at = std::find(dims.begin(), dims.end(), id);
      if (at != dims.end()) place = {i, at - dims.begin()};
    }
  return place;
}

/// Builds the block body of a plan.
class BodyBuilder {
 public:
  BodyBuilder(const Structure& structure, GraphBuilder block)
      : structure_(structure), problem_(*structure.problem), block_(std::move(block)) {}

  /// The body, and in used_inputs the program inputs that are its operands, in order.
  Result<ir::GraphPtr> build(std::vector<size_t>& used_inputs) {
    const auto& inputs = problem_.program.inputs;
    std::vector<bool> used(inputs.size(), false);
    const auto& steps = structure_.plan.steps;
    for (const Step& step : steps)
      if (step.kind == OpKind::Load) used[static_cast<size_t>(step.attrs.axis)] = true;
    const std::vector<bool> loaded = used;
    for (const Step& step : steps) {
      if (step.kind != OpKind::Extent) continue;
      const Place place = place_of(problem_, static_cast<ClassId>(step.attrs.axis), loaded);
      if (place.input == kNowhere)
        return unsupported("search: no input carries index class {}",
                           problem_.classes[static_cast<size_t>(step.attrs.axis)].name);
      used[place.input] = true;
    }
    operand_.resize(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!used[i]) continue;
      used_inputs.push_back(i);
      MIRAGE_TRY(operand_[i], block_.input(problem_.program.type(inputs[i]),
                                           problem_.program.value(inputs[i]).name));
    }
    for (const Step& step : steps) {
      MIRAGE_TRY(const ValueId value, add(step, used));
      values_.push_back(value);
    }
    for (size_t t = 0; t < problem_.targets.size(); ++t) {
      const ValueId target = problem_.targets[t];
      Attrs attrs;
      attrs.bind = bind_of(problem_.dims_of(target), /*with_loop=*/false);
      attrs.ints = problem_.program.type(target).shape;
      MIRAGE_TRY(const ValueId stored,
                 block_.add(OpKind::Store, {values_[structure_.plan.outputs[t]]}, attrs));
      block_.name_value(stored, problem_.program.value(target).name);
    }
    return block_.finish();
  }

 private:
  ir::Bind bind_of(const Dims& dims, bool with_loop) const {
    ir::Bind bind(dims.size());
    for (size_t d = 0; d < dims.size(); ++d)
      for (size_t a = 0; a < structure_.axes.size(); ++a) {
        const StructureAxis& axis = structure_.axes[a];
        const bool splits = dims[d] != kNoClass && contains_class(axis.classes, dims[d]);
        if (splits && (with_loop || axis.role == ir::Role::Grid))
          bind[d].push_back(static_cast<uint8_t>(a));
      }
    return bind;
  }

  Result<ValueId> add(const Step& step, const std::vector<bool>& used) {
    if (step.kind == OpKind::Load) {
      Attrs attrs;
      attrs.bind = bind_of(step.dims, /*with_loop=*/step.state != State::Whole);
      const size_t input = static_cast<size_t>(step.attrs.axis);
      MIRAGE_TRY(const ValueId tile, block_.add(step.kind, {operand_[input]}, std::move(attrs)));
      name(tile, step, step.state == State::Whole ? "_whole" : "_tile");
      return tile;
    }
    if (step.kind == OpKind::Extent) {
      const Place place = place_of(problem_, static_cast<ClassId>(step.attrs.axis), used);
      Attrs attrs;
      attrs.axis = place.axis;
      return block_.add(step.kind, {operand_[place.input]}, std::move(attrs));
    }
    std::vector<ValueId> args;
    for (uint32_t arg : step.args) args.push_back(values_[arg]);
    MIRAGE_TRY(const ValueId value, block_.add(step.kind, args, step.attrs));
    name(value, step, step.kind == OpKind::Accum ? "_sum" : "");
    return value;
  }

  /// Names of the program where a value of the block is the program's, or a tile of it.
  void name(ValueId value, const Step& step, std::string_view suffix) {
    if (!step.program_value.is_valid()) return;
    std::string text = problem_.program.value(step.program_value).name;
    if (text.empty()) return;
    text += suffix;
    for (const ir::Value& other : block_.draft().values)
      if (other.name == text) return;
    block_.name_value(value, std::move(text));
  }

  const Structure& structure_;
  const Problem& problem_;
  GraphBuilder block_;
  std::vector<ValueId> operand_;  // by program input
  std::vector<ValueId> values_;   // by step
};

}  // namespace

Structure structure_of(ProblemPtr problem, const Assignment& assignment, Plan plan) {
  Structure structure{std::move(problem), assignment, {}, std::move(plan)};
  const auto& classes = structure.problem->classes;
  for (ClassId id : assignment.grid)
    structure.axes.push_back({classes[id].name, ir::Role::Grid, {id}, classes[id].extent});
  if (!assignment.loop.empty()) {
    StructureAxis loop{"", ir::Role::Loop, assignment.loop, INT64_MAX};
    for (ClassId id : assignment.loop) {
      loop.name += classes[id].name;
      loop.extent = std::min(loop.extent, classes[id].extent);
    }
    structure.axes.push_back(std::move(loop));
  }
  return structure;
}

int64_t fit_trips(const Problem& problem, const StructureAxis& axis, int64_t wanted) {
  const auto fits = [&](int64_t trips) {
    return std::all_of(axis.classes.begin(), axis.classes.end(), [&](ClassId id) {
      const int64_t extent = problem.extent_of(id);
      const int64_t tile = (extent + trips - 1) / trips;
      return (trips - 1) * tile < extent;
    });
  };
  int64_t trips = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(axis.extent, 1));
  if (axis.classes.size() == 1) {
    const int64_t extent = problem.extent_of(axis.classes[0]);
    const int64_t tile = (extent + trips - 1) / trips;
    return (extent + tile - 1) / tile;
  }
  while (!fits(trips)) --trips;  // 1 always fits
  return trips;
}

Result<ir::GraphPtr> Structure::instantiate(const std::vector<int64_t>& trips) const {
  if (trips.size() != axes.size())
    return bad_input("structure: expected trips for {} axes, found {}", axes.size(), trips.size());
  ir::Launch launch;
  for (size_t a = 0; a < axes.size(); ++a)
    launch.axes.push_back({axes[a].name, axes[a].role, trips[a]});
  MIRAGE_TRY(GraphBuilder block, GraphBuilder::block(std::move(launch)));
  std::vector<size_t> used_inputs;
  MIRAGE_TRY(ir::GraphPtr body, BodyBuilder(*this, std::move(block)).build(used_inputs));

  const ir::Graph& original = problem->original;
  GraphBuilder kernel;
  kernel.set_name(original.name);
  std::vector<ValueId> values(original.values.size());  // of the kernel graph, by original value
  for (size_t i = 0; i < original.inputs.size(); ++i) {
    const ValueId input = original.inputs[i];
    MIRAGE_TRY(values[input.index], kernel.input(original.type(input), original.value(input).name,
                                                 original.input_strides[i]));
  }
  for (ir::OpId id : problem->views) {
    const ir::Op& view = original.op(id);
    const ValueId result = view.results[0];
    MIRAGE_TRY(values[result.index],
               kernel.add(view.kind, {values[view.operands[0].index]}, view.attrs));
    kernel.name_value(values[result.index], original.value(result).name);
  }
  const ir::Graph& program = problem->program;
  std::vector<ValueId> inputs, operands;
  for (ValueId source : problem->sources) inputs.push_back(values[source.index]);
  for (size_t i : used_inputs) operands.push_back(inputs[i]);
  MIRAGE_TRY(const auto results, kernel.add_block(std::move(body), operands));
  std::vector<ValueId> outputs;
  for (ValueId output : program.outputs) {
    const auto input = std::find(program.inputs.begin(), program.inputs.end(), output);
    const auto target = std::find(problem->targets.begin(), problem->targets.end(), output);
    const ValueId value = input != program.inputs.end()
                              ? inputs[static_cast<size_t>(input - program.inputs.begin())]
                              : results[static_cast<size_t>(target - problem->targets.begin())];
    if (input == program.inputs.end()) kernel.name_value(value, program.value(output).name);
    outputs.push_back(value);
  }
  return kernel.finish(outputs, program.output_strides);
}

std::string Structure::describe() const {
  std::string text = to_string(assignment, *problem) + ":";
  for (const Step& step : plan.steps)
    if (!step.args.empty()) text += fmt::format(" {}", def(step.kind).name);
  return text;
}

}  // namespace mirage::search
