#include "search/contains.h"

#include <algorithm>

#include "search/phases.h"
#include "util/deadline.h"

namespace mirage::search {
namespace {

using ir::Form;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

/// A value of the block body: what it stands for once complete, and how far it has come.
struct BodyValue {
  Dims dims;
  Sample sample;
  State state = State::Invariant;
  bool is_mean_share = false;  // a PartialSum whose accumulator must be a mean
};

tl::unexpected<ContainsResult> no(std::string reason) {
  return tl::unexpected(ContainsResult{Containment::No, std::move(reason)});
}
tl::unexpected<ContainsResult> unsupported_graph(std::string reason) {
  return tl::unexpected(ContainsResult{Containment::Unsupported, std::move(reason)});
}
template <class T>
using Answered = tl::expected<T, ContainsResult>;

class Replay {
 public:
  Replay(const SearchSpace& space, const ir::Graph& kernel)
      : space_(space), problem_(*space.problem), kernel_(kernel) {}

  ContainsResult run() {
    const auto done = try_run();
    return done ? ContainsResult{Containment::Yes, {}} : done.error();
  }

 private:
  Answered<void> try_run() {
    if (kernel_.ops.size() != 1 || kernel_.ops[0].kind != OpKind::Block)
      return unsupported_graph("not a single graph-defined kernel");
    const Op& block = kernel_.ops[0];
    body_ = block.body.get();
    if (auto read = read_assignment(block); !read) return read;
    phased_ = phased(space_.saturated.graph, assignment_);
    values_.resize(body_->values.size());
    for (const Op& op : body_->ops)
      if (auto done = replay(block, op); !done) return done;
    return check_outputs();
  }

  /// Which program input an operand of the block is.
  std::optional<size_t> input_of(const Op& block, ValueId operand) const {
    const auto at = std::find(body_->inputs.begin(), body_->inputs.end(), operand);
    if (at == body_->inputs.end()) return std::nullopt;
    const ValueId outer = block.operands[static_cast<size_t>(at - body_->inputs.begin())];
    const auto input = std::find(kernel_.inputs.begin(), kernel_.inputs.end(), outer);
    if (input == kernel_.inputs.end()) return std::nullopt;
    return static_cast<size_t>(input - kernel_.inputs.begin());
  }
  const Dims& dims_of_input(size_t i) const { return problem_.dims_of(problem_.program.inputs[i]); }

  /// Axes of one step are no axes. A grid axis must mean one class in all loads and stores.
  Answered<void> read_assignment(const Op& block) {
    std::vector<std::vector<ClassId>> classes(body_->launch.axes.size());
    for (const Op& op : body_->ops) {
      if (op.kind != OpKind::Load) continue;
      const auto input = input_of(block, op.operands[0]);
      if (!input) return unsupported_graph("a load of no program input");
      for (size_t d = 0; d < op.attrs.bind.size(); ++d)
        for (uint8_t axis : op.attrs.bind[d]) {
          const ClassId id = dims_of_input(*input)[d];
          if (body_->launch.axes[axis].trips == 1 || id == kNoClass) continue;
          if (!contains_class(classes[axis], id)) classes[axis].push_back(id);
        }
    }
    for (size_t a = 0; a < classes.size(); ++a) {
      const ir::Axis& axis = body_->launch.axes[a];
      auto& to = axis.role == ir::Role::Loop ? assignment_.loop : assignment_.grid;
      if (axis.trips == 1 || classes[a].empty()) continue;
      if (axis.role != ir::Role::Loop && classes[a].size() > 1)
        return no(fmt::format("grid axis {} slices index classes {} and {}", axis.name,
                              problem_.classes[classes[a][0]].name,
                              problem_.classes[classes[a][1]].name));
      if (axis.role == ir::Role::Loop && !assignment_.loop.empty())
        return unsupported_graph("nested loops");
      for (ClassId id : classes[a])
        if (!contains_class(to, id)) to.push_back(id);
    }
    for (const ir::Axis& axis : body_->launch.axes)
      steps_ *= axis.role == ir::Role::Loop ? axis.trips : 1;
    if (assignment_.loop.size() > 2) return unsupported_graph("a loop over three classes");
    std::sort(assignment_.grid.begin(), assignment_.grid.end());
    std::sort(assignment_.loop.begin(), assignment_.loop.end());
    for (ClassId id : assignment_.loop)
      if (contains_class(assignment_.grid, id))
        return unsupported_graph("a class sliced by grid and loop");
    return {};
  }

  Answered<void> replay(const Op& block, const Op& op) {
    BodyValue& result = values_[op.results[0].index];
    switch (def(op.kind).form) {
      case Form::Leaf:
        if (op.kind == OpKind::Const) {
          result.sample = space_.saturated.sampler.constant(op.attrs.scalars[0]);
          return {};
        }
        return replay_extent(block, op, result);
      case Form::Accum:
        return replay_accumulator(op, result);
      case Form::Move:
        if (op.kind == OpKind::Store) {
          result = values_[op.operands[0].index];
          return {};
        }
        if (op.kind == OpKind::Load) {
          const size_t input = *input_of(block, op.operands[0]);
          result.dims = dims_of_input(input);
          result.sample = space_.saturated.sampler.input(input);
          const auto state = complete_state(result.dims, false, assignment_);
          if (!state) return no("an input carries two classes of the loop");
          const bool is_whole = *state == State::InLoop && !is_walked(op.attrs.bind);
          result.state = is_whole ? State::Whole : *state;
          return check_node(op, result);
        }
        break;
      default:
        break;
    }
    return replay_operator(op, result);
  }

  bool is_walked(const ir::Bind& bind) const {
    for (const auto& axes : bind)
      for (uint8_t axis : axes) {
        const ir::Axis& walked = body_->launch.axes[axis];
        if (walked.role == ir::Role::Loop && walked.trips > 1) return true;
      }
    return false;
  }

  Answered<void> replay_extent(const Op& block, const Op& op, BodyValue& result) {
    const auto input = input_of(block, op.operands[0]);
    const Dims& dims = input ? dims_of_input(*input) : values_[op.operands[0].index].dims;
    const ClassId id = dims[static_cast<size_t>(op.attrs.axis)];
    if (!input && (contains_class(assignment_.grid, id) || contains_class(assignment_.loop, id)))
      return no(fmt::format("{}: the extent of a tile", label(op)));
    result.sample =
        id == kNoClass ? space_.saturated.sampler.constant(1) : space_.saturated.sampler.extent(id);
    return {};
  }

  Answered<void> replay_accumulator(const Op& op, BodyValue& result) {
    if (op.kind != OpKind::Accum)
      return unsupported_graph(fmt::format("{}: a rescaling accumulator", label(op)));
    result = values_[op.operands[0].index];
    if (steps_ == 1) return {};  // the identity
    if (result.state == State::InLoop && op.attrs.combine == ir::Combine::Sum) {
      result.state = State::Accumulated;
      return check_node(op, result);
    }
    const ir::Combine expected = is_partial_max(result.state) ? ir::Combine::Max
                                 : result.is_mean_share       ? ir::Combine::Mean
                                                              : ir::Combine::Sum;
    if (!is_partial(result.state) || op.attrs.combine != expected)
      return no(fmt::format("{}: accumulates a value that is no share of a {}", label(op),
                            name_of(op.attrs.combine)));
    result.state = State::AfterLoop;
    result.is_mean_share = false;
    return check_node(op, result);
  }

  Answered<void> replay_operator(const Op& op, BodyValue& result) {
    std::vector<const Sample*> samples;
    std::vector<const Dims*> dims;
    std::vector<State> states;
    for (ValueId operand : op.operands) {
      const BodyValue& value = values_[operand.index];
      if (value.is_mean_share) return no(fmt::format("{}: uses the mean of a tile", label(op)));
      samples.push_back(&value.sample);
      dims.push_back(&value.dims);
      states.push_back(value.state);
    }
    const auto result_dims = dims_after(op, dims);
    if (!result_dims) return no(fmt::format("{}: operands of different index classes", label(op)));
    result.dims = *result_dims;
    const bool is_mean = op.kind == OpKind::Mean;
    const auto state = state_after(is_mean ? OpKind::Sum : op.kind, op.attrs, states, dims,
                                   result.dims, assignment_);
    if (!state) return no(fmt::format("{}: mixes values of different steps or blocks", label(op)));
    result.state = *state;
    result.is_mean_share = is_mean && is_partial(*state);
    auto sample = space_.saturated.sampler.apply(op.kind, op.attrs, samples, dims, result.dims);
    if (!sample) return no(fmt::format("{}: has no defined value", label(op)));
    result.sample = std::move(*sample);
    if (result.dims.empty()) return {};
    return check_node(op, result);
  }

  std::optional<Dims> dims_after(const Op& op, const std::vector<const Dims*>& args) const {
    const Dims& first = *args[0];
    Dims result = first;
    const size_t rank = first.size();
    const auto join = [](ClassId& a, ClassId b) {
      if (a == kNoClass) a = b;
      return b == kNoClass || a == b;
    };
    switch (def(op.kind).form) {
      case Form::Map:
        for (const Dims* arg : args) {
          if (arg->size() > result.size())
            result.insert(result.begin(), arg->size() - result.size(), kNoClass);
          const size_t offset = result.size() - arg->size();
          for (size_t i = 0; i < arg->size(); ++i)
            if (!join(result[offset + i], (*arg)[i])) return std::nullopt;
        }
        return result;
      case Form::Contract:
        for (size_t i = 0; i + 2 < rank; ++i)
          if (!join(result[i], (*args[1])[i])) return std::nullopt;
        if (first[rank - 1] != (*args[1])[rank - 2]) return std::nullopt;
        result[rank - 1] = (*args[1])[rank - 1];
        return result;
      case Form::Reduce:
        result[static_cast<size_t>(op.attrs.axis)] = kNoClass;
        return result;
      default:
        break;
    }
    if (op.kind != OpKind::Transpose) return std::nullopt;
    for (size_t i = 0; i < rank; ++i) result[i] = first[static_cast<size_t>(op.attrs.ints[i])];
    return result;
  }

  Answered<void> check_node(const Op& op, const BodyValue& value) const {
    const NodeId node = space_.saturated.find(value.dims, value.sample);
    if (!node.is_valid())
      return no(fmt::format("{}: its value is not in the value graph", label(op)));
    // A mean's share is reached through the sum; the complete mean must be there.
    if (value.is_mean_share) return {};
    if (!phased_.is_reachable({node, value.state}))
      return no(fmt::format("{}: its value is not reachable at this point", label(op)));
    return {};
  }

  Answered<void> check_outputs() const {
    for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
      const ValueId wanted = problem_.program.outputs[i];
      const ValueId output = kernel_.outputs[i];
      if (problem_.program.is_input(wanted) || kernel_.is_input(output)) {
        const auto position = [](const ir::Graph& graph, ValueId id) {
          return std::find(graph.inputs.begin(), graph.inputs.end(), id) - graph.inputs.begin();
        };
        if (position(problem_.program, wanted) != position(kernel_, output))
          return no(fmt::format("output {} is another value", i));
        continue;
      }
      const auto target = std::find(problem_.targets.begin(), problem_.targets.end(), wanted);
      const NodeId node =
          space_.saturated.graph.targets[static_cast<size_t>(target - problem_.targets.begin())];
      const BodyValue& stored = values_[body_->outputs[kernel_.value(output).result].index];
      if (stored.dims != space_.saturated.graph.node(node).dims ||
          !same_sample(stored.sample, space_.saturated.samples[node.index],
                       scale_of(stored.sample)))
        return no(fmt::format("output {} is not the program's", i));
    }
    return {};
  }

  static std::string label(const Op& op) {
    return fmt::format("{} %{}", def(op.kind).name, op.results[0].index);
  }

  const SearchSpace& space_;
  const Problem& problem_;
  const ir::Graph& kernel_;
  const ir::Graph* body_ = nullptr;
  Assignment assignment_;
  int64_t steps_ = 1;
  Phased phased_;
  std::vector<BodyValue> values_;  // by ValueId of the body
};

}  // namespace

std::string_view name_of(Containment answer) {
  constexpr std::string_view kNames[] = {"yes", "no", "unsupported"};
  return kNames[static_cast<size_t>(answer)];
}

Result<SearchSpace> search_space(const ir::Graph& program, const SearchOptions& options) {
  const Deadline::Clock::time_point start = Deadline::Clock::now();
  MIRAGE_TRY(ProblemPtr problem, problem_of(program));
  if (!problem->views.empty())
    return unsupported("contains: the program narrows or reshapes inputs");
  SearchStats stats;
  ClosureOptions closure_options{options.max_nodes, options.seed};
  closure_options.cancel = options.cancel;
  closure_options.deadline = Deadline::after(start, options.time_limit_seconds);
  Saturated saturated = closure(*problem, closure_options, stats);
  stats.seconds = std::chrono::duration<double>(Deadline::Clock::now() - start).count();
  return SearchSpace{std::move(problem), std::move(saturated), stats};
}

Result<ContainsResult> contains(const SearchSpace& space, const ir::Graph& mugraph) {
  const ir::Graph& program = space.problem->program;
  const auto same_types = [&](const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](ValueId x, ValueId y) {
      return program.type(x).shape == mugraph.type(y).shape;
    });
  };
  if (!same_types(program.inputs, mugraph.inputs))
    return bad_input("contains: the graph's inputs are not the program's");
  if (!same_types(program.outputs, mugraph.outputs))
    return bad_input("contains: the graph's outputs are not the program's");
  return Replay(space, mugraph).run();
}

Result<ContainsResult> contains(const ir::Graph& program, const ir::Graph& mugraph,
                                const SearchOptions& options) {
  auto space = search_space(program, options);
  if (!space) {
    if (space.error().code != Code::Unsupported) return tl::unexpected(space.error());
    return ContainsResult{Containment::Unsupported, space.error().message};
  }
  return contains(*space, mugraph);
}

}  // namespace mirage::search
