#include "search/phases.h"

#include <algorithm>
#include <optional>

namespace mirage::search {
namespace {

using ir::Form;
using ir::OpKind;

/// Index in assignment.loop of the one loop class among these axes; -1 for none, -2 for two.
int loop_class(const Dims& dims, const Assignment& assignment) {
  int found = -1;
  for (size_t i = 0; i < assignment.loop.size(); ++i)
    if (contains_class(dims, assignment.loop[i])) found = found == -1 ? static_cast<int>(i) : -2;
  return found;
}

State partial(bool is_max, size_t loop_index) {
  const State first = is_max ? State::PartialMax : State::PartialSum;
  return static_cast<State>(static_cast<size_t>(first) + loop_index);
}
bool is_partial_sum(State state) { return is_partial(state) && !is_partial_max(state); }

/// Of an operator that keeps the axes: those under which a partial sum stays one.
std::optional<State> linear_state(OpKind kind, std::span<const State> args) {
  const auto sum_and_invariant = [&](size_t i) {
    return is_partial_sum(args[i]) && args[1 - i] == State::Invariant;
  };
  switch (kind) {
    case OpKind::Transpose:
      return args[0];
    case OpKind::Neg:
      return is_partial_sum(args[0]) ? std::optional(args[0]) : std::nullopt;
    case OpKind::Add:
    case OpKind::Sub:
      if (is_partial_sum(args[0]) && args[0] == args[1]) return args[0];
      return std::nullopt;
    case OpKind::Mul:
      if (sum_and_invariant(1)) return args[1];
      [[fallthrough]];
    case OpKind::Div:
      return sum_and_invariant(0) ? std::optional(args[0]) : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// Of an operator on values at whole extent, in front of the loop: elementwise until a reduction
/// over the loop class makes an invariant of it. Products of whole operands would do the loop's
/// work a second time.
std::optional<State> whole_state(OpKind kind, const ir::Attrs& attrs, std::span<const State> args,
                                 const Dims& arg, const Dims& result,
                                 const Assignment& assignment) {
  for (State state : args)
    if (state != State::Whole && state != State::Invariant) return std::nullopt;
  const Form form = def(kind).form;
  if (form == Form::Contract) return std::nullopt;
  if (form == Form::Reduce && contains_class(assignment.grid, reduced_class(kind, attrs, arg)))
    return std::nullopt;  // each block would hold a share of the result
  return loop_class(result, assignment) == -1 ? State::Invariant : State::Whole;
}

/// Of a contraction or reduction one of whose operands is a partial value: a sum of shares is a
/// share of the sum; of the factors of a product one may be a share.
std::optional<State> reduced_partial(OpKind kind, std::span<const State> args) {
  if (kind == OpKind::MatMul) {
    for (size_t i : {size_t{0}, size_t{1}})
      if (is_partial_sum(args[i]) && args[1 - i] == State::Invariant) return args[i];
    return std::nullopt;
  }
  if (is_partial_max(args[0]) != (kind == OpKind::Max)) return std::nullopt;
  return args[0];
}

}  // namespace

std::optional<State> complete_state(const Dims& dims, bool after_loop,
                                    const Assignment& assignment) {
  const int loop = loop_class(dims, assignment);
  if (loop == -2 || (after_loop && loop >= 0)) return std::nullopt;
  return after_loop ? State::AfterLoop : loop >= 0 ? State::InLoop : State::Invariant;
}

std::optional<State> state_after(OpKind kind, const ir::Attrs& attrs, std::span<const State> args,
                                 std::span<const Dims* const> arg_dims, const Dims& result,
                                 const Assignment& assignment) {
  if (std::find(args.begin(), args.end(), State::Whole) != args.end())
    return whole_state(kind, attrs, args, *arg_dims[0], result, assignment);
  bool after = false, in_loop = false, partial_arg = false;
  for (State arg : args) {
    after |= arg == State::AfterLoop || arg == State::Accumulated;
    in_loop |= arg == State::InLoop;
    partial_arg |= is_partial(arg);
  }
  if (after && (in_loop || partial_arg)) return std::nullopt;
  if (std::find(args.begin(), args.end(), State::Accumulated) != args.end()) {
    // Any other operator would see elements of different tiles added up.
    const bool finishes = kind == OpKind::Sum &&
                          contains_class(assignment.loop, reduced_class(kind, attrs, *arg_dims[0]));
    return finishes ? complete_state(result, after, assignment) : std::nullopt;
  }
  const Form form = def(kind).form;
  if (form != Form::Contract && form != Form::Reduce) {
    if (partial_arg) return linear_state(kind, args);
    return complete_state(result, after, assignment);
  }

  const ClassId over = reduced_class(kind, attrs, *arg_dims[0]);
  const auto& grid = assignment.grid;
  if (over != kNoClass && std::find(grid.begin(), grid.end(), over) != grid.end())
    return std::nullopt;  // each block would hold a share of the result
  const auto& loop = assignment.loop;
  const auto at = std::find(loop.begin(), loop.end(), over);
  if (at == loop.end() && !partial_arg) return complete_state(result, after, assignment);
  if (loop_class(result, assignment) != -1) return std::nullopt;
  if (partial_arg) return at == loop.end() ? reduced_partial(kind, args) : std::nullopt;
  if (kind == OpKind::Mean) return std::nullopt;  // a mean over a tile is no share of it
  return partial(kind == OpKind::Max, static_cast<size_t>(at - loop.begin()));
}

namespace {

class Phaser {
 public:
  Phaser(const ValueGraph& graph, const Assignment& assignment)
      : graph_(graph), assignment_(assignment) {
    phased_.derivations.resize(graph.nodes.size() * kStates);
    users_.resize(graph.nodes.size());
    positions_.resize(phased_.derivations.size(), SIZE_MAX);
    for (size_t e = 0; e < graph.edges.size(); ++e) {
      const auto& args = graph.edges[e].args;
      for (size_t i = 0; i < args.size(); ++i)
        if (i == 0 || args[i] != args[0]) users_[args[i].index].push_back(e);
    }
  }

  Phased run() {
    for (size_t e = 0; e < graph_.edges.size(); ++e)
      if (graph_.edges[e].args.empty()) apply(e, {});
    for (size_t next = 0; next < reached_.size(); ++next) {
      const Item item = reached_[next];
      if (is_partial(item.state)) record({item.node, State::AfterLoop}, {-1, {item}});
      if (item.state == State::InLoop) {
        record({item.node, State::Accumulated}, {-1, {item}});
        load_whole(item);
      }
      for (size_t e : users_[item.node.index]) combine(e, item, next);
    }
    return std::move(phased_);
  }

 private:
  void record(Item item, Derivation derivation) {
    auto& known = phased_.derivations[item.index()];
    if (known.empty()) {
      positions_[item.index()] = reached_.size();
      reached_.push_back(item);
    }
    known.push_back(std::move(derivation));
  }

  /// An input that the loop walks can also be loaded before it, as a whole.
  void load_whole(const Item& tile) {
    for (const Derivation& derivation : phased_.derivations[tile.index()])
      if (derivation.args.empty()) record({tile.node, State::Whole}, derivation);
  }

  /// All argument pairs of edge e that contain `item` and otherwise items reached before it, so
  /// that every pair comes up once.
  void combine(size_t e, Item item, size_t position) {
    const auto& args = graph_.edges[e].args;
    if (args.size() == 1) return apply(e, {item});
    for (size_t s = 0; s < kStates; ++s) {
      const auto reached_before = [&](const Item& partner) {
        return positions_[partner.index()] <= position;
      };
      const Item second{args[1], static_cast<State>(s)}, first{args[0], static_cast<State>(s)};
      if (args[0] == item.node && reached_before(second)) apply(e, {item, second});
      if (args[1] == item.node && first != item && reached_before(first)) apply(e, {first, item});
    }
  }

  void apply(size_t e, std::vector<Item> args) {
    const Edge& edge = graph_.edges[e];
    const Dims& dims = graph_.node(edge.result).dims;
    State states[2] = {};
    const Dims* arg_dims[2] = {};
    for (size_t i = 0; i < args.size(); ++i) {
      states[i] = args[i].state;
      arg_dims[i] = &graph_.node(args[i].node).dims;
    }
    const std::optional<State> state =
        args.empty() ? complete_state(dims, /*after_loop=*/false, assignment_)
                     : state_after(edge.kind, edge.attrs, {states, args.size()},
                                   {arg_dims, args.size()}, dims, assignment_);
    if (!state) return;
    const Item result{edge.result, *state};
    if (std::find(args.begin(), args.end(), result) == args.end())
      record(result, {static_cast<int>(e), std::move(args)});
  }

  const ValueGraph& graph_;
  const Assignment& assignment_;
  std::vector<std::vector<size_t>> users_;  // edges by argument node
  std::vector<Item> reached_;
  std::vector<size_t> positions_;  // in reached_, by Item::index
  Phased phased_;
};

}  // namespace

Phased phased(const ValueGraph& graph, const Assignment& assignment) {
  return Phaser(graph, assignment).run();
}

}  // namespace mirage::search
