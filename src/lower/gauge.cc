#include "lower/gauge.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ir/builder.h"

namespace mirage::lower {
namespace {

using ir::GraphBuilder;
using ir::Op;
using ir::OpKind;
using ir::Phase;
using ir::ValueId;

/// What is known of the gauge of one exponential; grows until a pass over the graph finds no fault.
struct Gauge {
  std::set<int64_t> axes;   // of the argument, over which the shift is constant
  bool is_running = false;  // the shift follows the maximum over loop steps
  bool is_off = false;      // stays a bare exponential
};

/// A value is exp(-weight * shift) times what it would be without this gauge.
struct Term {
  size_t exp = 0;  // which Op of the old graph
  double weight = 0;
  ValueId shift{};              // broadcasts to the value
  std::vector<int64_t> axes{};  // for every axis of the value: the argument's axis it is, or -1
  std::set<int64_t> reduced{};  // axes of the argument that were summed on the way
  std::vector<std::vector<int64_t>> moves{};  // transposes on the way
};

/// A value of the new graph.
struct Known {
  ValueId id{};
  std::vector<Term> terms{};
};

struct Running {
  ValueId shift, step, last;  // m, d, and m after the loop
};

bool is_shift_already(const ir::Graph& graph, ValueId argument) {
  const Op* op = graph.def_of(argument);
  if (!op) return false;
  const auto is_maximum = [&](ValueId value) {
    const Op* from = graph.def_of(value);
    if (!from) return false;
    return from->kind == OpKind::Max || from->kind == OpKind::GaugeMax ||
           from->kind == OpKind::RunningMax || from->kind == OpKind::RunningGauge ||
           (from->kind == OpKind::Accum && from->attrs.combine == ir::Combine::Max);
  };
  return is_maximum(argument) || (op->kind == OpKind::Sub && is_maximum(op->operands[1]));
}

/// One attempt to rewrite a graph with given gauges. A fault changes a gauge: the caller tries
/// again.
class Pass {
 public:
  Pass(const ir::Graph& graph, std::map<size_t, Gauge>& gauges, GraphBuilder builder)
      : graph_(graph), gauges_(gauges), builder_(std::move(builder)), known_(graph.values.size()) {
    phases_.assign(graph.values.size(), Phase::Invariant);
    if (graph.level == ir::Level::Block) phases_ = phases_of(graph);
  }

  /// Nothing: a gauge was changed.
  Result<ir::GraphPtr> run() {
    builder_.set_name(graph_.name);
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const ir::Value& input = graph_.value(graph_.inputs[i]);
      const ir::Strides strides =
          i < graph_.input_strides.size() ? graph_.input_strides[i] : ir::Strides{};
      MIRAGE_TRY(known_[graph_.inputs[i].index].id,
                 builder_.input(input.type, input.name, strides));
    }
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      MIRAGE_TRY_VOID(visit(i));
      if (is_changed_) return ir::GraphPtr();
    }
    std::vector<ValueId> outputs;
    if (graph_.level != ir::Level::Block)
      for (ValueId output : graph_.outputs) {
        MIRAGE_TRY(const ValueId value, exact(known_[output.index]));
        outputs.push_back(value);
      }
    if (is_changed_) return ir::GraphPtr();
    for (auto& [exp, gauge] : gauges_)
      if (!gauge.is_off && gauge.axes.empty()) gauge.is_off = is_changed_ = true;  // never summed
    if (is_changed_) return ir::GraphPtr();
    return builder_.finish(outputs, graph_.output_strides);
  }

 private:
  void turn_off(size_t exp) { gauges_[exp].is_off = is_changed_ = true; }

  Result<ValueId> add(OpKind kind, std::initializer_list<ValueId> operands, int64_t axis = 0) {
    ir::Attrs attrs;
    attrs.axis = axis;
    return builder_.add(kind, operands, std::move(attrs));
  }

  /// Sum of weight * part over the terms.
  template <class Part>
  Result<ValueId> weighted(const std::vector<Term>& terms, Part part) {
    ValueId sum;
    for (const Term& term : terms) {
      ValueId value = part(term);
      if (term.weight != 1) {
        MIRAGE_TRY(const ValueId weight, builder_.constant(term.weight));
        MIRAGE_TRY(value, add(OpKind::Mul, {value, weight}));
      }
      if (!sum.is_valid()) {
        sum = value;
      } else {
        MIRAGE_TRY(sum, add(OpKind::Add, {sum, value}));
      }
    }
    return sum;
  }

  /// A shift after the transposes that its value went through. There and back is the shift itself,
  /// so that it is recognised.
  Result<ValueId> transposed(ValueId value, const std::vector<std::vector<int64_t>>& moves) {
    for (const std::vector<int64_t>& move : moves) {
      std::vector<int64_t> back(move.size());
      for (size_t i = 0; i < move.size(); ++i)
        back[static_cast<size_t>(move[i])] = static_cast<int64_t>(i);
      const auto [at, is_new] = moved_.try_emplace({value, move});
      if (is_new) {
        ir::Attrs attrs;
        attrs.ints = move;
        MIRAGE_TRY(at->second, builder_.add(OpKind::Transpose, {value}, std::move(attrs)));
        moved_[{at->second, back}] = value;
      }
      value = at->second;
    }
    return value;
  }

  /// The value without any gauge. Only sums over the gauge's axes can be scaled back: a single
  /// exponential may be 0 where its true value is not.
  Result<ValueId> exact(const Known& value) {
    if (value.terms.empty()) return value.id;
    for (const Term& term : value.terms)
      if (term.reduced != gauges_[term.exp].axes || term.reduced.empty()) turn_off(term.exp);
    if (is_changed_) return value.id;
    MIRAGE_TRY(const ValueId shift, weighted(value.terms, [](const Term& t) { return t.shift; }));
    MIRAGE_TRY(const ValueId factor, add(OpKind::Exp, {shift}));
    return add(OpKind::Mul, {value.id, factor});
  }

  // ---- terms through operators ----

  static std::vector<int64_t> aligned(const std::vector<int64_t>& axes, size_t rank) {
    std::vector<int64_t> result = axes;
    result.insert(result.begin(), rank - axes.size(), -1);
    return result;
  }

  /// Terms of a product (sign 1) or quotient (sign -1) of the given rank.
  static std::vector<Term> combined(const std::vector<Term>& a, const std::vector<Term>& b,
                                    double sign, size_t rank) {
    std::vector<Term> result;
    for (const Term& term : a) {
      result.push_back(term);
      result.back().axes = aligned(term.axes, rank);
    }
    for (const Term& term : b) {
      const auto same = std::find_if(result.begin(), result.end(), [&](const Term& other) {
        return other.exp == term.exp && other.shift == term.shift;
      });
      if (same == result.end()) {
        result.push_back(term);
        result.back().axes = aligned(term.axes, rank);
        result.back().weight *= sign;
        continue;
      }
      same->weight += sign * term.weight;
      for (size_t i = 0; i < rank; ++i)
        same->axes[i] = std::max(same->axes[i], aligned(term.axes, rank)[i]);
      std::set<int64_t> both;
      std::set_intersection(same->reduced.begin(), same->reduced.end(), term.reduced.begin(),
                            term.reduced.end(), std::inserter(both, both.begin()));
      same->reduced = both;
    }
    std::erase_if(result, [](const Term& term) { return term.weight == 0; });
    return result;
  }

  static bool same_terms(const std::vector<Term>& a, const std::vector<Term>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i].exp != b[i].exp || a[i].shift != b[i].shift || a[i].weight != b[i].weight)
        return false;
    return true;
  }

  /// Terms after summing over an axis of the value; asks for a wider gauge where the shift varies.
  std::vector<Term> summed(std::vector<Term> terms, size_t axis) {
    for (Term& term : terms) {
      const int64_t origin = term.axes[axis];
      if (origin < 0) continue;
      Gauge& gauge = gauges_[term.exp];
      if (!gauge.axes.count(origin)) {
        // Two sums of one exponential over different axes have no gauge in common that is tight.
        if (!gauge.axes.empty() && term.reduced != gauge.axes) {
          turn_off(term.exp);
        } else {
          gauge.axes.insert(origin);
          is_changed_ = true;
        }
        continue;
      }
      term.reduced.insert(origin);
      term.axes[axis] = -1;
    }
    return terms;
  }

  // ---- operators ----

  Result<void> keep(const Op& op, const std::vector<Known>& operands,
                    const std::vector<Term>& terms) {
    std::vector<ValueId> ids;
    for (const Known& operand : operands) ids.push_back(operand.id);
    ir::Attrs attrs = op.attrs;
    std::vector<ValueId> results;
    if (op.kind == OpKind::Block) {
      MIRAGE_TRY(const ir::GraphPtr body, make_safe(op.body));
      MIRAGE_TRY(results, builder_.add_block(body, ids));
    } else {
      MIRAGE_TRY(results, builder_.add_all(op.kind, ids, std::move(attrs)));
    }
    for (size_t i = 0; i < results.size(); ++i) define(op.results[i], {results[i], terms});
    return {};
  }

  void define(ValueId old, Known value) {
    if (!graph_.value(old).name.empty()) builder_.name_value(value.id, graph_.value(old).name);
    known_[old.index] = std::move(value);
  }

  Result<void> exponential(size_t index, const Op& op, const Known& argument) {
    const Gauge& gauge = gauges_[index];
    const ir::Shape shape = builder_.type(argument.id).shape;
    if (gauge.is_off || shape.empty()) {
      gauges_[index].is_off = true;
      return keep(op, {argument}, {});
    }
    ValueId shift = argument.id;  // stands in until the axes are known
    size_t left = gauge.axes.size();
    for (int64_t axis : gauge.axes) {
      const bool is_last = --left == 0;
      if (is_last && gauge.is_running) {
        ir::Attrs attrs;
        attrs.axis = axis;
        const ValueId operands[] = {shift};
        MIRAGE_TRY(const auto pair, builder_.add_all(OpKind::RunningGauge, operands, attrs));
        MIRAGE_TRY(const ValueId zero, builder_.constant(0));
        MIRAGE_TRY(const ValueId last, add(OpKind::AccumRescale, {pair[0], zero}));
        running_[index] = {pair[0], pair[1], last};
        shift = pair[0];
      } else {
        MIRAGE_TRY(shift, add(is_last ? OpKind::GaugeMax : OpKind::Max, {shift}, axis));
      }
    }
    if (gauge.is_running && gauge.axes.empty()) {
      MIRAGE_TRY(const ValueId zero, builder_.constant(0));
      MIRAGE_TRY(const ValueId last, add(OpKind::AccumRescale, {shift, zero}));
      running_[index] = {shift, shift, last};
    }
    MIRAGE_TRY(const ValueId moved, add(OpKind::Sub, {argument.id, shift}));
    MIRAGE_TRY(const ValueId value, add(OpKind::Exp, {moved}));
    Term term{index, 1, shift};
    for (size_t i = 0; i < shape.size(); ++i) term.axes.push_back(static_cast<int64_t>(i));
    define(op.results[0], {value, {term}});
    return {};
  }

  /// Accumulated values: states move with the running shift of their terms.
  Result<void> accumulate(const Op& op, const Known& x, std::optional<ValueId> factor) {
    std::vector<Term> moving, terms;
    for (const Term& term : x.terms) {
      terms.push_back(term);
      if (phases_[graph_.ops[term.exp].results[0].index] != Phase::InLoop) continue;
      Gauge& gauge = gauges_[term.exp];
      if (!gauge.is_running) {
        gauge.is_running = is_changed_ = true;
        return {};
      }
      moving.push_back(term);
      MIRAGE_TRY(moving.back().shift, transposed(running_.at(term.exp).step, term.moves));
      MIRAGE_TRY(terms.back().shift, transposed(running_.at(term.exp).last, term.moves));
    }
    if (moving.empty()) {
      std::vector<Known> operands = {x};
      if (factor) operands.push_back({*factor, {}});
      return keep(op, operands, terms);
    }
    MIRAGE_TRY(const ValueId step, weighted(moving, [](const Term& term) { return term.shift; }));
    ValueId& known_scale = scales_[step];
    if (!known_scale.is_valid()) {
      MIRAGE_TRY(known_scale, add(OpKind::Exp, {step}));
    }
    ValueId scale = known_scale;
    if (factor) {
      MIRAGE_TRY(scale, add(OpKind::Mul, {scale, *factor}));
    }
    MIRAGE_TRY(ValueId result, add(OpKind::AccumRescale, {x.id, scale}));
    if (op.attrs.combine == ir::Combine::Mean) {
      double steps = 1;
      for (const ir::Axis& axis : graph_.launch.axes)
        if (axis.role == ir::Role::Loop) steps *= static_cast<double>(axis.trips);
      MIRAGE_TRY(const ValueId count, builder_.constant(steps));
      MIRAGE_TRY(result, add(OpKind::Div, {result, count}));
    }
    define(op.results[0], {result, std::move(terms)});
    return {};
  }

  /// No rule for terms: on exact operands.
  Result<void> plain(const Op& op, std::vector<Known> operands) {
    for (Known& operand : operands) {
      MIRAGE_TRY(operand.id, exact(operand));
      operand.terms.clear();
    }
    if (is_changed_) return {};
    return keep(op, operands, {});
  }

  Result<void> visit(size_t index) {
    const Op& op = graph_.ops[index];
    std::vector<Known> operands;
    bool has_terms = false;
    for (ValueId operand : op.operands) {
      operands.push_back(known_[operand.index]);
      has_terms |= !operands.back().terms.empty();
    }
    if (op.kind == OpKind::Exp) {
      if (is_shift_already(graph_, op.operands[0])) gauges_[index].is_off = true;
      MIRAGE_TRY(const ValueId argument, exact(operands[0]));
      if (is_changed_) return {};
      return exponential(index, op, {argument, {}});
    }
    if (!has_terms) return keep(op, operands, {});
    const auto scaled = [&](double factor) {
      std::vector<Term> terms = operands[0].terms;
      for (Term& term : terms) term.weight *= factor;
      return terms;
    };
    const size_t rank = graph_.type(op.results[0]).shape.size();
    switch (op.kind) {
      case OpKind::Neg:
      case OpKind::Relu:
        return keep(op, operands, operands[0].terms);
      case OpKind::Square:
        return keep(op, operands, scaled(2));
      case OpKind::Sqrt:
        return keep(op, operands, scaled(0.5));
      case OpKind::Rsqrt:
        return keep(op, operands, scaled(-0.5));
      case OpKind::Mul:
        return keep(op, operands, combined(operands[0].terms, operands[1].terms, 1, rank));
      case OpKind::Div:
        return keep(op, operands, combined(operands[0].terms, operands[1].terms, -1, rank));
      case OpKind::Add:
      case OpKind::Sub:
      case OpKind::Maximum:
      case OpKind::Minimum:
        if (!same_terms(operands[0].terms, operands[1].terms)) return plain(op, operands);
        return keep(op, operands, combined(operands[0].terms, {}, 1, rank));
      case OpKind::Log: {  // log of a sum of exponentials
        for (const Term& term : operands[0].terms)
          if (term.reduced.empty() || term.reduced != gauges_[term.exp].axes)
            return plain(op, operands);
        MIRAGE_TRY(const ValueId log, add(OpKind::Log, {operands[0].id}));
        MIRAGE_TRY(const ValueId shift,
                   weighted(operands[0].terms, [](const Term& term) { return term.shift; }));
        MIRAGE_TRY(const ValueId value, add(OpKind::Add, {log, shift}));
        define(op.results[0], {value, {}});
        return {};
      }
      case OpKind::Sum:
      case OpKind::Mean:
      case OpKind::Max: {
        std::vector<Term> terms = summed(operands[0].terms, static_cast<size_t>(op.attrs.axis));
        if (is_changed_) return {};
        return keep(op, operands, terms);
      }
      case OpKind::MatMul: {
        std::vector<Term> lhs = summed(operands[0].terms, rank - 1);
        std::vector<Term> rhs = summed(operands[1].terms, rank - 2);
        if (is_changed_) return {};
        return keep(op, operands, combined(lhs, rhs, 1, rank));
      }
      case OpKind::Transpose: {
        std::vector<Term> terms = operands[0].terms;
        for (Term& term : terms) {
          if (builder_.type(term.shift).shape.size() != rank) return plain(op, operands);
          const std::vector<int64_t> before = term.axes;
          for (size_t i = 0; i < rank; ++i)
            term.axes[i] = before[static_cast<size_t>(op.attrs.ints[i])];
          MIRAGE_TRY(term.shift, transposed(term.shift, {op.attrs.ints}));
          term.moves.push_back(op.attrs.ints);
        }
        return keep(op, operands, terms);
      }
      case OpKind::Accum:
        if (op.attrs.combine == ir::Combine::Max) return plain(op, operands);
        return accumulate(op, operands[0], std::nullopt);
      case OpKind::AccumRescale: {
        MIRAGE_TRY(const ValueId factor, exact(operands[1]));
        if (is_changed_) return {};
        return accumulate(op, operands[0], factor);
      }
      default:
        return plain(op, std::move(operands));
    }
  }

  const ir::Graph& graph_;
  std::map<size_t, Gauge>& gauges_;
  GraphBuilder builder_;
  std::vector<Known> known_;  // by ValueId of the old graph
  std::vector<Phase> phases_;
  std::map<size_t, Running> running_;
  std::map<ValueId, ValueId> scales_;  // exp(d), by d
  std::map<std::pair<ValueId, std::vector<int64_t>>, ValueId> moved_;
  bool is_changed_ = false;
};

}  // namespace

Result<ir::GraphPtr> make_safe(const ir::GraphPtr& graph) {
  const bool has_work = std::any_of(graph->ops.begin(), graph->ops.end(), [](const Op& op) {
    return op.kind == OpKind::Exp || op.kind == OpKind::Block;
  });
  if (!has_work) return graph;
  std::map<size_t, Gauge> gauges;
  for (;;) {  // every round turns a gauge off, widens it, or lets it run: at most ten each
    GraphBuilder builder;
    if (graph->level == ir::Level::Block) {
      MIRAGE_TRY(builder, GraphBuilder::block(graph->launch));
    }
    MIRAGE_TRY(ir::GraphPtr safe, Pass(*graph, gauges, std::move(builder)).run());
    if (safe) return safe;
  }
}

}  // namespace mirage::lower
