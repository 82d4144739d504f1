#include "search/closure.h"

#include <algorithm>
#include <bit>
#include <set>

#include "search/relevance.h"

namespace mirage::search {
namespace {

using ir::Attrs;
using ir::Form;
using ir::OpKind;

/// An operator with its attributes, as the closure tries it.
struct Candidate {
  OpKind kind;
  Attrs attrs;
  std::vector<NodeId> args;
  Dims dims;
};

class Closure {
 public:
  Closure(const Problem& problem, const ClosureOptions& options, SearchStats& stats)
      : problem_(problem),
        options_(options),
        stats_(stats),
        sampler_(problem, options.seed + 1),
        relevance_(problem) {}

  Saturated run() {
    seed();
    collect_operators();
    for (size_t next = 0; next < graph_.nodes.size(); ++next) {
      if (is_stopped()) break;
      grow(NodeId{next});
    }
    stats_.nodes = graph_.nodes.size();
    stats_.edges = graph_.edges.size();
    std::vector<Sample> samples;
    for (Known& known : known_) samples.push_back(std::move(known.sample));
    return {std::move(graph_), std::move(sampler_), std::move(samples)};
  }

 private:
  struct Known {
    Sample sample;
    std::optional<Relevance::Form> form;
    bool is_leaf = false;  // a constant or an extent
  };

  bool is_stopped() {
    if (options_.cancel && options_.cancel->load(std::memory_order_relaxed))
      stats_.stop = Stop::Cancelled;
    else if (std::chrono::steady_clock::now() > options_.deadline)
      stats_.stop = Stop::TimeLimit;
    else if (graph_.nodes.size() > options_.max_nodes)
      stats_.stop = Stop::NodeLimit;
    return stats_.stop != Stop::Complete;
  }
  void drop(Dropped reason) { ++stats_.dropped[static_cast<size_t>(reason)]; }

  /// The program's own values, equal ones merged.
  void seed() {
    const ValueGraph own = own_values(problem_);
    std::vector<NodeId> node_of(own.nodes.size());
    for (const Edge& edge : own.edges) {
      const Node& node = own.node(edge.result);
      std::vector<NodeId> args;
      for (NodeId arg : edge.args) args.push_back(node_of[arg.index]);
      Known known = value_of(edge, args, node.dims);
      NodeId& id = node_of[edge.result.index];
      if (!id.is_valid()) id = find(node.dims, node.dtype, known.sample);
      if (!id.is_valid()) id = add_node(node, std::move(known));
      if (!graph_.nodes[id.index].program_value.is_valid())
        graph_.nodes[id.index].program_value = node.program_value;
      add_edge({edge.kind, edge.attrs, std::move(args), id, true});
    }
    for (NodeId target : own.targets) {
      graph_.targets.push_back(node_of[target.index]);
      const Known& known = known_[graph_.targets.back().index];
      if (known.form)
        relevance_.add_target(*known.form);
      else
        stats_.used_algebra = false;
    }
  }

  Known value_of(const Edge& edge, const std::vector<NodeId>& args, const Dims& dims) {
    if (edge.kind == OpKind::Load) {
      const size_t index = static_cast<size_t>(edge.attrs.axis);
      return {sampler_.input(index), relevance_.input(index), false};
    }
    if (edge.kind == OpKind::Const)
      return {sampler_.constant(edge.attrs.scalars[0]), relevance_.constant(edge.attrs.scalars[0]),
              true};
    if (edge.kind == OpKind::Extent) {
      const ClassId id = static_cast<ClassId>(edge.attrs.axis);
      return {sampler_.extent(id), relevance_.extent(id), true};
    }
    auto sample = sample_of(edge.kind, edge.attrs, args, dims);
    // A value that is undefined at all samples equals nothing but itself.
    return {sample ? std::move(*sample) : Sample{}, form_of(edge.kind, edge.attrs, args), false};
  }

  std::optional<Sample> sample_of(OpKind kind, const Attrs& attrs, const std::vector<NodeId>& args,
                                  const Dims& dims) const {
    const Sample* samples[2];
    const Dims* arg_dims[2];
    for (size_t i = 0; i < args.size(); ++i) {
      samples[i] = &known_[args[i].index].sample;
      arg_dims[i] = &graph_.node(args[i]).dims;
      if (samples[i]->empty()) return std::nullopt;
    }
    return sampler_.apply(kind, attrs, {samples, args.size()}, {arg_dims, args.size()}, dims);
  }

  std::optional<Relevance::Form> form_of(OpKind kind, const Attrs& attrs,
                                         const std::vector<NodeId>& args) {
    Relevance::Form forms[2];
    const Dims* arg_dims[2];
    for (size_t i = 0; i < args.size(); ++i) {
      if (!known_[args[i].index].form) return std::nullopt;
      forms[i] = *known_[args[i].index].form;
      arg_dims[i] = &graph_.node(args[i]).dims;
    }
    return relevance_.apply(kind, attrs, {forms, args.size()}, {arg_dims, args.size()});
  }

  NodeId find(const Dims& dims, ir::DType dtype, const Sample& sample) const {
    if (sample.empty()) return {};
    const double scale = scale_of(sample);
    for (size_t n = 0; n < graph_.nodes.size(); ++n)
      if (graph_.nodes[n].dims == dims && graph_.nodes[n].dtype == dtype &&
          same_sample(known_[n].sample, sample, scale))
        return NodeId{n};
    return {};
  }

  NodeId add_node(Node node, Known known) {
    graph_.nodes.push_back(std::move(node));
    known_.push_back(std::move(known));
    return NodeId{graph_.nodes.size() - 1};
  }

  void add_edge(Edge edge) {
    std::vector<int64_t> key{static_cast<int64_t>(edge.kind), edge.attrs.axis};
    for (NodeId arg : edge.args) key.push_back(arg.index);
    key.push_back(-1);
    key.insert(key.end(), edge.attrs.ints.begin(), edge.attrs.ints.end());
    for (double scalar : edge.attrs.scalars) key.push_back(std::bit_cast<int64_t>(scalar));
    if (edge_keys_.insert(std::move(key)).second) graph_.edges.push_back(std::move(edge));
  }

  /// What the closure applies: operators of the program with their attributes, and those that
  /// re-association, hoisting and completing squares need.
  void collect_operators() {
    const auto add_unary = [&](OpKind kind, Attrs attrs) {
      const auto entry = std::pair(kind, std::move(attrs));
      if (std::find(unary_.begin(), unary_.end(), entry) == unary_.end()) unary_.push_back(entry);
    };
    const auto add_binary = [&](OpKind kind) {
      if (std::find(binary_.begin(), binary_.end(), kind) == binary_.end()) binary_.push_back(kind);
    };
    for (OpKind kind : {OpKind::Mul, OpKind::Div, OpKind::Add}) add_binary(kind);
    for (const ir::Op& op : problem_.program.ops) {
      const ir::OpDef& row = def(op.kind);
      if (row.form == Form::Map && op.operands.size() == 1) {
        Attrs attrs;
        attrs.scalars = op.attrs.scalars;
        add_unary(op.kind, attrs);
        if (op.kind == OpKind::Rsqrt) add_unary(OpKind::Sqrt, {});
        if (op.kind == OpKind::Neg) add_binary(OpKind::Sub);
      } else if (row.form == Form::Map) {
        add_binary(op.kind);
        if (op.kind == OpKind::Mul && op.operands[0] == op.operands[1])
          add_unary(OpKind::Square, {});
      } else if (op.kind == OpKind::Transpose) {
        add_unary(op.kind, op.attrs);
        Attrs inverse = op.attrs;
        for (size_t i = 0; i < inverse.ints.size(); ++i)
          inverse.ints[static_cast<size_t>(op.attrs.ints[i])] = static_cast<int64_t>(i);
        add_unary(op.kind, inverse);
      } else if (op.kind == OpKind::Max) {
        has_max_ = true;
      } else if (op.kind == OpKind::MatMul) {
        has_matmul_ = true;
      }
    }
  }

  void grow(NodeId id) {
    const Dims dims = graph_.node(id).dims;
    for (const auto& [kind, attrs] : unary_) {
      if (dims.empty()) break;  // scalars of the program are leaves
      Dims result = dims;
      if (kind == OpKind::Transpose) {
        if (attrs.ints.size() != dims.size()) continue;
        for (size_t i = 0; i < dims.size(); ++i)
          result[i] = dims[static_cast<size_t>(attrs.ints[i])];
      }
      consider({kind, attrs, {id}, std::move(result)});
    }
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis] == kNoClass) continue;
      Attrs attrs;
      attrs.axis = static_cast<int64_t>(axis);
      Dims result = dims;
      result[axis] = kNoClass;
      consider({OpKind::Sum, attrs, {id}, result});
      if (has_max_) consider({OpKind::Max, attrs, {id}, result});
    }
    for (size_t other = 0; other <= id.index; ++other) {
      combine(id, NodeId{other});
      if (other != id.index) combine(NodeId{other}, id);
    }
  }

  void combine(NodeId a, NodeId b) {
    // Copies: considering a result may add a node, which moves the others.
    const Dims x = graph_.node(a).dims;
    const Dims y = graph_.node(b).dims;
    if (x.empty() && y.empty()) return;
    const bool weak = is_leaf(a) || is_leaf(b);
    // Leaves take the type of the other operand; nothing converts other values.
    if (!weak && graph_.node(a).dtype != graph_.node(b).dtype) return;
    if (auto result = broadcast(x, y)) {
      for (OpKind kind : binary_) {
        const bool commutes = kind == OpKind::Add || kind == OpKind::Mul ||
                              kind == OpKind::Maximum || kind == OpKind::Minimum;
        if (commutes && a.index > b.index) continue;
        if (a == b && kind != OpKind::Add) continue;
        consider({kind, {}, {a, b}, *result});
      }
    }
    if (has_matmul_ && x.size() >= 2 && x.size() == y.size() && x.back() != kNoClass &&
        x.back() == y[y.size() - 2]) {
      const size_t rank = x.size();
      Dims result = x;
      for (size_t i = 0; i + 2 < rank; ++i) {
        if (x[i] != y[i] && x[i] != kNoClass && y[i] != kNoClass) return;
        result[i] = x[i] == kNoClass ? y[i] : x[i];
      }
      result[rank - 1] = y[rank - 1];
      if (is_honest(result)) consider({OpKind::MatMul, {}, {a, b}, std::move(result)});
    }
  }

  bool is_leaf(NodeId id) const { return known_[id.index].is_leaf; }

  static bool is_honest(const Dims& dims) {
    for (size_t i = 0; i < dims.size(); ++i)
      for (size_t j = i + 1; j < dims.size(); ++j)
        if (dims[i] != kNoClass && dims[i] == dims[j]) return false;
    return true;
  }

  static std::optional<Dims> broadcast(const Dims& a, const Dims& b) {
    Dims result = a.size() >= b.size() ? a : b;
    const Dims& other = a.size() >= b.size() ? b : a;
    const size_t offset = result.size() - other.size();
    for (size_t i = 0; i < other.size(); ++i) {
      ClassId& id = result[offset + i];
      if (id == kNoClass) id = other[i];
      if (other[i] != kNoClass && other[i] != id) return std::nullopt;
    }
    if (!is_honest(result)) return std::nullopt;
    return result;
  }

  void consider(Candidate candidate) {
    ++stats_.candidates;
    auto sample = sample_of(candidate.kind, candidate.attrs, candidate.args, candidate.dims);
    if (!sample) return drop(Dropped::Undefined);
    ir::DType dtype = ir::DType::F64;
    for (NodeId arg : candidate.args)
      if (!is_leaf(arg)) dtype = graph_.node(arg).dtype;
    NodeId id = find(candidate.dims, dtype, *sample);
    if (!id.is_valid()) {
      if (!sampler_.depends_on_all(*sample, candidate.dims)) return drop(Dropped::Dishonest);
      const auto form = form_of(candidate.kind, candidate.attrs, candidate.args);
      if (!form) return drop(Dropped::Undefined);
      for (NodeId arg : candidate.args)
        if (relevance_.mass(*form) < relevance_.mass(*known_[arg.index].form))
          return drop(Dropped::NonMonotone);
      if (!relevance_.is_relevant(*form)) return drop(Dropped::Useless);
      id = add_node({candidate.dims, dtype, {}}, {std::move(*sample), form, false});
    } else if (known_[id.index].form) {
      for (NodeId arg : candidate.args)
        if (known_[arg.index].form &&
            relevance_.mass(*known_[id.index].form) < relevance_.mass(*known_[arg.index].form))
          return drop(Dropped::NonMonotone);
    }
    if (std::find(candidate.args.begin(), candidate.args.end(), id) != candidate.args.end()) return;
    add_edge({candidate.kind, std::move(candidate.attrs), std::move(candidate.args), id});
  }

  const Problem& problem_;
  const ClosureOptions& options_;
  SearchStats& stats_;
  Sampler sampler_;
  Relevance relevance_;
  ValueGraph graph_;
  std::vector<Known> known_;  // by node
  std::set<std::vector<int64_t>> edge_keys_;
  std::vector<std::pair<OpKind, Attrs>> unary_;
  std::vector<OpKind> binary_;
  bool has_max_ = false, has_matmul_ = false;
};

}  // namespace

NodeId Saturated::find(const Dims& dims, const Sample& sample) const {
  const double scale = scale_of(sample);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    if (graph.nodes[n].dims == dims && same_sample(samples[n], sample, scale)) return NodeId{n};
  return {};
}

Saturated closure(const Problem& problem, const ClosureOptions& options, SearchStats& stats) {
  stats.used_algebra = true;
  return Closure(problem, options, stats).run();
}

}  // namespace mirage::search
