#include "search/extract.h"

#include <algorithm>

#include "search/costly.h"

namespace mirage::search {
namespace {

using ir::Form;
using ir::OpKind;

// Work of one element, in units of a vectorised addition. A ratio of costs is all that matters
// here: absolute times belong to cost.h.
constexpr double kCostlyMap = 8, kMatmulFma = 0.25, kLoad = 1.5, kAccumulate = 2;
constexpr double kPerOperator = 64;  // so that of equal plans the shorter wins
// A value without a grid axis is computed by every block along it.
constexpr double kRecompute = 4;

double elements(const Problem& problem, const Dims& dims) {
  double count = 1;
  for (ClassId id : dims) count *= static_cast<double>(problem.extent_of(id));
  return count;
}

class Extractor {
 public:
  Extractor(const Problem& problem, const ValueGraph& graph, const Phased& phased,
            const Assignment& assignment, const ExtractOptions& options)
      : problem_(problem),
        graph_(graph),
        phased_(phased),
        assignment_(assignment),
        options_(options) {}

  Extracted run() {
    prepare();
    goals_.resize(graph_.targets.size());
    choose_goal_states(0);
    return std::move(result_);
  }

 private:
  struct Choice {
    const Derivation* derivation;
    double cost;
    bool counts;  // towards max_operators
  };

  double cost_of(const Item& item, const Derivation& derivation) const {
    const Dims& dims = graph_.node(item.node).dims;
    double cost = 0, count = elements(problem_, dims);
    double blocks = 1;
    const auto missing = [&](const Dims& d) {
      double factor = 1;
      for (ClassId id : assignment_.grid)
        if (!contains_class(d, id)) factor *= kRecompute;
      return factor;
    };
    if (derivation.edge < 0) {
      cost = count * kAccumulate * 4;  // once a step: a few steps
      blocks = missing(dims);
    } else {
      const Edge& edge = graph_.edges[static_cast<size_t>(derivation.edge)];
      if (edge.kind == OpKind::Const || edge.kind == OpKind::Extent) return 0;
      if (edge.kind == OpKind::Load) return count * kLoad;
      blocks = missing(dims);
      const ir::OpDef& row = def(edge.kind);
      if (row.form == Form::Contract || row.form == Form::Reduce) {
        const ClassId over = reduced_class(edge.kind, edge.attrs, graph_.node(edge.args[0]).dims);
        count *= static_cast<double>(problem_.extent_of(over));
        cost = edge.kind == OpKind::MatMul ? count * kMatmulFma : count;
      } else if (row.form == Form::Map) {
        cost = is_costly(edge.kind) ? count * kCostlyMap : count;
      }  // what only moves elements is a view
    }
    return cost * blocks + kPerOperator;
  }

  /// Choices of every reachable item; the least cost is a bound on any plan with the item.
  void prepare() {
    choices_.resize(phased_.derivations.size());
    chosen_.assign(phased_.derivations.size(), nullptr);
    least_.assign(phased_.derivations.size(), kInfinite);
    for (size_t n = 0; n < graph_.nodes.size(); ++n)
      for (size_t s = 0; s < kStates; ++s) {
        const Item item{NodeId{n}, static_cast<State>(s)};
        // Never cheaper than summing first, and not defined where the last tile is shorter.
        if (item.state == State::Accumulated) continue;
        for (const Derivation& derivation : phased_.derivations[item.index()]) {
          const bool leaf = derivation.edge >= 0 && derivation.args.empty();
          if (derivation.edge >= 0 && !options_.new_differences &&
              graph_.edges[static_cast<size_t>(derivation.edge)].is_new_difference())
            continue;
          choices_[item.index()].push_back({&derivation, cost_of(item, derivation), !leaf});
        }
        double& least = least_[item.index()];
        for (const Choice& choice : choices_[item.index()]) least = std::min(least, choice.cost);
      }
    measure_trees();
  }

  /// total_[i]: the cost of the cheapest tree for item i (shared values counted again).
  /// Bellman-Ford over the hypergraph.
  void measure_trees() {
    total_.assign(choices_.size(), kInfinite);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < choices_.size(); ++i)
        for (const Choice& choice : choices_[i]) {
          double sum = choice.cost;
          for (const Item& arg : choice.derivation->args) sum += total_[arg.index()];
          if (sum < total_[i]) {
            total_[i] = sum;
            changed = true;
          }
        }
    }
  }

  void choose_goal_states(size_t target) {
    if (target == graph_.targets.size()) {
      pending_.clear();
      for (const Item& goal : goals_)
        if (std::find(pending_.begin(), pending_.end(), goal) == pending_.end())
          pending_.push_back(goal);
      visit(0, 0);
      return;
    }
    for (State state : {State::Invariant, State::AfterLoop}) {
      const Item goal{graph_.targets[target], state};
      if (!phased_.is_reachable(goal)) continue;
      goals_[target] = goal;
      choose_goal_states(target + 1);
    }
  }

  bool is_full() const { return result_.plans.size() >= options_.max_plans; }

  /// Takes the first pending item without a choice and tries its derivations.
  void visit(double cost, size_t operators) {
    if (!result_.complete) return;
    if (++result_.visits > options_.max_visits) {
      result_.complete = false;
      return;
    }
    size_t open = 0;
    double bound = cost;
    for (; open < pending_.size() && chosen_[pending_[open].index()]; ++open) {
    }
    for (size_t i = open; i < pending_.size(); ++i)
      if (!chosen_[pending_[i].index()]) bound += least_[pending_[i].index()];
    if (is_full() && bound >= result_.plans.back().cost) return;
    if (open == pending_.size()) return complete(cost);
    const Item item = pending_[open];
    for (const Choice* const next : promising(item)) {
      const Choice& choice = *next;
      if (operators + choice.counts > options_.max_operators) continue;
      if (makes_cycle(item, *choice.derivation)) continue;
      const size_t size = pending_.size();
      for (const Item& arg : choice.derivation->args)
        if (std::find(pending_.begin(), pending_.end(), arg) == pending_.end())
          pending_.push_back(arg);
      chosen_[item.index()] = choice.derivation;
      visit(cost + choice.cost, operators + choice.counts);
      chosen_[item.index()] = nullptr;
      pending_.resize(size);
    }
  }

  /// Choices of an item, those first that add least to what is needed anyway.
  std::vector<const Choice*> promising(const Item& item) const {
    std::vector<std::pair<double, const Choice*>> order;
    for (const Choice& choice : choices_[item.index()]) {
      double added = choice.cost;
      for (const Item& arg : choice.derivation->args)
        if (std::find(pending_.begin(), pending_.end(), arg) == pending_.end())
          added += total_[arg.index()];
      order.emplace_back(added, &choice);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<const Choice*> choices;
    for (const auto& [added, choice] : order) choices.push_back(choice);
    return choices;
  }

  bool makes_cycle(const Item& item, const Derivation& derivation) const {
    std::vector<Item> stack = derivation.args, seen;
    while (!stack.empty()) {
      const Item next = stack.back();
      stack.pop_back();
      if (next == item) return true;
      if (std::find(seen.begin(), seen.end(), next) != seen.end()) continue;
      seen.push_back(next);
      if (const Derivation* chosen = chosen_[next.index()])
        stack.insert(stack.end(), chosen->args.begin(), chosen->args.end());
    }
    return false;
  }

  void complete(double cost) {
    Plan plan;
    plan.cost = cost;
    std::vector<int> step_of(chosen_.size(), -1);
    for (const Item& goal : goals_) plan.outputs.push_back(emit(goal, plan, step_of));
    auto& plans = result_.plans;
    const auto at = std::upper_bound(plans.begin(), plans.end(), plan,
                                     [](const Plan& a, const Plan& b) { return a.cost < b.cost; });
    plans.insert(at, std::move(plan));
    if (plans.size() > options_.max_plans) plans.pop_back();
  }

  uint32_t emit(const Item& item, Plan& plan, std::vector<int>& step_of) const {
    int& slot = step_of[item.index()];
    if (slot >= 0) return static_cast<uint32_t>(slot);
    const Derivation& derivation = *chosen_[item.index()];
    Step step;
    for (const Item& arg : derivation.args) step.args.push_back(emit(arg, plan, step_of));
    const Node& node = graph_.node(item.node);
    step.dims = node.dims;
    step.state = item.state;
    if (item.state <= State::AfterLoop) step.program_value = node.program_value;
    if (derivation.edge >= 0) {
      const Edge& edge = graph_.edges[static_cast<size_t>(derivation.edge)];
      step.kind = edge.kind;
      step.attrs = edge.attrs;
      step.is_new_difference = edge.is_new_difference();
    } else {
      const bool is_max = derivation.args[0].state >= State::PartialMax;
      step.kind = OpKind::Accum;
      step.attrs.combine = is_max ? ir::Combine::Max : ir::Combine::Sum;
    }
    plan.steps.push_back(std::move(step));
    return static_cast<uint32_t>(slot = static_cast<int>(plan.steps.size()) - 1);
  }

  static constexpr double kInfinite = 1e300;
  const Problem& problem_;
  const ValueGraph& graph_;
  const Phased& phased_;
  const Assignment& assignment_;
  const ExtractOptions& options_;
  std::vector<std::vector<Choice>> choices_;  // by Item::index
  std::vector<double> total_, least_;         // by Item::index
  std::vector<const Derivation*> chosen_;     // the choice made for an item
  std::vector<Item> pending_, goals_;
  Extracted result_;
};

}  // namespace

Extracted extract(const Problem& problem, const ValueGraph& graph, const Phased& phased,
                  const Assignment& assignment, const ExtractOptions& options) {
  return Extractor(problem, graph, phased, assignment, options).run();
}

}  // namespace mirage::search
