#pragma once
// What of a value graph one kernel can compute under an assignment. A value in a block is a node
// and a state; the rules below are exact: a partial sum over the loop class may be scaled and added
// to others of its kind, nothing else, until an accumulator completes it.

#include <optional>
#include <span>

#include "search/assignment.h"
#include "search/value_graph.h"

namespace mirage::search {

enum class State : uint8_t {
  Invariant,    // depends on no loop class: usable in the loop and after it
  InLoop,       // carries a loop class as an axis: this step's tile
  Whole,        // carries a loop class at its whole extent: computed before the loop, to be reduced
  AfterLoop,    // complete, and computed from an accumulator
  Accumulated,  // an InLoop value added up over the steps: its loop axis is still to be summed
  PartialSum,   // this step's share of a sum over loop[0]; complete after accum sum
  PartialSum1,  // the same over loop[1]
  PartialMax,
  PartialMax1,
};
constexpr size_t kStates = 9;

/// A node in a state; dense index for tables.
struct Item {
  NodeId node;
  State state = State::Invariant;
  size_t index() const { return node.index * kStates + static_cast<size_t>(state); }
  auto operator<=>(const Item&) const = default;
};

/// One way to get an item: an edge of the value graph on these items, or (edge < 0) an accumulator
/// on args[0].
struct Derivation {
  int edge = -1;
  std::vector<Item> args;
};

/// Per item (by Item::index) its derivations, every one of whose arguments has derivations itself.
struct Phased {
  std::vector<std::vector<Derivation>> derivations;
  bool is_reachable(Item item) const { return !derivations[item.index()].empty(); }
};

/// The state of an operator's result from those of its operands, or nullopt where a block cannot
/// compute it. The operator is not a leaf and not an accumulator.
std::optional<State> state_after(ir::OpKind kind, const ir::Attrs& attrs,
                                 std::span<const State> args, std::span<const Dims* const> arg_dims,
                                 const Dims& result, const Assignment& assignment);
/// The state of a complete value with these axes, before (or without) the loop or after it.
std::optional<State> complete_state(const Dims& dims, bool after_loop,
                                    const Assignment& assignment);
constexpr bool is_partial(State state) { return state >= State::PartialSum; }
constexpr bool is_partial_max(State state) { return state >= State::PartialMax; }

Phased phased(const ValueGraph& graph, const Assignment& assignment);

}  // namespace mirage::search
