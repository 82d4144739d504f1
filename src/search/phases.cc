#include "search/phases.h"

#include <algorithm>
#include <optional>

namespace mirage::search {
namespace {

using ir::Form;
using ir::OpKind;

State partial(bool is_max, size_t loop_index) {
  const State first = is_max ? State::PartialMax : State::PartialSum;
  return static_cast<State>(static_cast<size_t>(first) + loop_index);
}
bool is_partial(State state) { return state >= State::PartialSum; }
bool is_partial_sum(State state) {
  return state == State::PartialSum || state == State::PartialSum1;
}

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
      for (size_t e : users_[item.node.index]) combine(e, item, next);
    }
    return std::move(phased_);
  }

 private:
  /// Index in assignment.loop of the one loop class among these axes; -1 for none, -2 for two.
  int loop_class(const Dims& dims) const {
    int found = -1;
    for (size_t i = 0; i < assignment_.loop.size(); ++i)
      if (contains_class(dims, assignment_.loop[i])) found = found == -1 ? static_cast<int>(i) : -2;
    return found;
  }

  void record(Item item, Derivation derivation) {
    auto& known = phased_.derivations[item.index()];
    if (known.empty()) {
      positions_[item.index()] = reached_.size();
      reached_.push_back(item);
    }
    known.push_back(std::move(derivation));
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
    const std::optional<State> state = state_of(edge, args);
    if (!state) return;
    const Item result{edge.result, *state};
    for (const Item& arg : args)
      if (arg == result) return;
    record(result, {static_cast<int>(e), std::move(args)});
  }

  /// The state of a complete value with these axes whose operands are `after` the loop or not.
  std::optional<State> plain(NodeId node, bool after) const {
    const int loop = loop_class(graph_.node(node).dims);
    if (loop == -2 || (after && loop >= 0)) return std::nullopt;
    return after ? State::AfterLoop : loop >= 0 ? State::InLoop : State::Invariant;
  }

  std::optional<State> state_of(const Edge& edge, const std::vector<Item>& args) const {
    bool after = false, in_loop = false, partial_arg = false;
    for (const Item& arg : args) {
      after |= arg.state == State::AfterLoop;
      in_loop |= arg.state == State::InLoop;
      partial_arg |= is_partial(arg.state);
    }
    if (after && (in_loop || partial_arg)) return std::nullopt;
    const ir::OpDef& row = def(edge.kind);
    if (row.form == Form::Contract || row.form == Form::Reduce)
      return reduced_state(edge, args, after, partial_arg);
    if (!partial_arg) return plain(edge.result, after);
    return linear_state(edge, args);
  }

  /// Operators under which a partial sum stays one.
  std::optional<State> linear_state(const Edge& edge, const std::vector<Item>& args) const {
    const auto invariant = [&](size_t i) { return args[i].state == State::Invariant; };
    switch (edge.kind) {
      case OpKind::Transpose:
        return args[0].state;
      case OpKind::Neg:
        if (is_partial_sum(args[0].state)) return args[0].state;
        return std::nullopt;
      case OpKind::Add:
      case OpKind::Sub:
        if (is_partial_sum(args[0].state) && args[0].state == args[1].state) return args[0].state;
        return std::nullopt;
      case OpKind::Mul:
        if (is_partial_sum(args[0].state) && invariant(1)) return args[0].state;
        if (is_partial_sum(args[1].state) && invariant(0)) return args[1].state;
        return std::nullopt;
      case OpKind::Div:
        if (is_partial_sum(args[0].state) && invariant(1)) return args[0].state;
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  std::optional<State> reduced_state(const Edge& edge, const std::vector<Item>& args, bool after,
                                     bool partial_arg) const {
    const Dims& dims = graph_.node(args[0].node).dims;
    const bool is_max = edge.kind == OpKind::Max;
    const ClassId over =
        edge.kind == OpKind::MatMul ? dims.back() : dims[static_cast<size_t>(edge.attrs.axis)];
    if (std::find(assignment_.grid.begin(), assignment_.grid.end(), over) != assignment_.grid.end())
      return std::nullopt;  // each block would hold a share of the result
    const auto loop = std::find(assignment_.loop.begin(), assignment_.loop.end(), over);
    const bool over_loop = loop != assignment_.loop.end();
    if (partial_arg) {
      // A sum of shares is a share of the sum; of the factors of a product one may be a share.
      if (over_loop || loop_class(graph_.node(edge.result).dims) != -1) return std::nullopt;
      if (edge.kind != OpKind::MatMul) {
        const bool share_of_max = !is_partial_sum(args[0].state);
        return is_max == share_of_max ? std::optional(args[0].state) : std::nullopt;
      }
      if (is_partial_sum(args[0].state) && args[1].state == State::Invariant) return args[0].state;
      if (is_partial_sum(args[1].state) && args[0].state == State::Invariant) return args[1].state;
      return std::nullopt;
    }
    if (!over_loop) return plain(edge.result, after);
    if (loop_class(graph_.node(edge.result).dims) != -1) return std::nullopt;
    if (edge.kind == OpKind::Mean) return std::nullopt;  // a mean over a tile is no share of it
    return partial(is_max, static_cast<size_t>(loop - assignment_.loop.begin()));
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
