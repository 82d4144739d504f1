#include "algebra/meaning.h"

#include <algorithm>
#include <set>

#include "algebra/domain.h"
#include "ir/ops/bodies.h"

namespace mirage::algebra {
namespace {

using ir::Combine;
using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

// Tags of free variables: positions in the flattened dims of a value, then the axes of the block,
// then what an operator is about to bind.
constexpr uint32_t kAxisTag = 1u << 16;
constexpr uint32_t kTagsPerAxis = 64;
constexpr uint32_t kInnerTag = 1u << 24;
// Constant 0/1 tensors of concat, narrow and reshapes without index map.
constexpr uint32_t kSelectionTensor = 1u << 31;

constexpr std::string_view kNow[] = {"running_max", "running_gauge"};
constexpr std::string_view kBefore[] = {"running_max_before", "running_gauge_before"};
constexpr std::string_view kFinalGauge = "gauge_max";

using Variables = std::vector<Var>;

struct Context {
  Arena& arena;
  const std::vector<Ragged>& ragged;
  std::vector<std::string> selections;

  uint32_t selection(const std::string& name) {
    size_t i = 0;
    while (i < selections.size() && selections[i] != name) ++i;
    if (i == selections.size()) selections.push_back(name);
    return kSelectionTensor + static_cast<uint32_t>(i);
  }
};

/// Variables of axis `axis` of a value with these dims: its nodes from tag `first` on.
Variables axis_variables(const Dims& dims, size_t axis) {
  uint32_t tag = 0;
  for (size_t i = 0; i < axis; ++i) tag += static_cast<uint32_t>(dims[i].size());
  Variables result;
  for (Node node : dims[axis]) result.push_back(free_var(node, tag++));
  return result;
}

Variables tagged(const AtomList& list, uint32_t first) {
  Variables result;
  for (Node node : list) result.push_back(free_var(node, first++));
  return result;
}

class Evaluator {
 public:
  Evaluator(Context& context, const Graph& graph, const GraphIndex& index)
      : context_(context), arena_(context.arena), graph_(graph), index_(index) {}

  /// Forms by ValueId; where there is none, reason() says why.
  std::vector<Nf> run(std::span<const Nf> inputs) {
    forms_.resize(graph_.values.size());
    reasons_.resize(graph_.values.size());
    for (size_t i = 0; i < inputs.size(); ++i) forms_[graph_.inputs[i].index] = inputs[i];
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      const Op& op = graph_.ops[i];
      std::string reason;
      for (ValueId operand : op.operands)
        if (reason.empty()) reason = reasons_[operand.index];
      if (reason.empty()) {
        if (const Result<void> done = visit(i); !done) reason = done.error().message;
      }
      for (ValueId result : op.results) {
        if (!reason.empty()) forms_[result.index] = {};
        if (forms_[result.index].is_valid()) continue;
        reasons_[result.index] =
            !reason.empty() ? reason
                            : label(op) +
                                  ": no normal form (a limit, a division by zero or a literal that "
                                  "is not finite)";
      }
    }
    return forms_;
  }

  const std::string& reason(ValueId id) const { return reasons_[id.index]; }

 private:
  Nf& form(ValueId id) { return forms_[id.index]; }
  const Dims& dims(ValueId id) const { return index_.values[id.index]; }
  static std::string label(const Op& op) {
    return fmt::format("{} %{}", ir::def(op.kind).name,
                       op.results.empty() ? 0 : op.results[0].index);
  }

  // --- variables

  static void rename(std::vector<Substitution>& substitutions, const Variables& from,
                     const Variables& to) {
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i] != to[i]) substitutions.push_back({from[i], {to[i]}});
  }

  /// Operand as a function of the result's variables, axes aligned at the right.
  Nf aligned(ValueId operand, ValueId result) {
    const Dims &from = dims(operand), &to = dims(result);
    const size_t offset = to.size() - from.size();
    std::vector<Substitution> substitutions;
    for (size_t i = 0; i < from.size(); ++i)
      if (!from[i].empty() && !to[offset + i].empty())
        rename(substitutions, axis_variables(from, i), axis_variables(to, offset + i));
    return arena_.substitute(form(operand), substitutions);
  }

  Variables loop_variables() const {
    Variables result;
    for (size_t i = 0; i < index_.axes.size(); ++i)
      if (graph_.launch.axes[i].role == ir::Role::Loop)
        for (Var v : block_axis(i)) result.push_back(v);
    return result;
  }

  Variables block_axis(size_t axis) const {
    return tagged(index_.axes[axis], kAxisTag + static_cast<uint32_t>(axis) * kTagsPerAxis);
  }

  /// Number of elements of an axis.
  Result<Nf> size_of(const AtomList& list, const std::string& where) {
    Nf result = arena_.number(1);
    for (size_t i = 0; i < list.size();) {
      Node node = list[i++];
      for (const Ragged& r : context_.ragged) {
        AtomList run = r.axis;
        run.insert(run.end(), r.tile.begin(), r.tile.end());
        if (i - 1 + run.size() <= list.size() &&
            std::equal(run.begin(), run.end(), list.begin() + static_cast<std::ptrdiff_t>(i - 1))) {
          node = r.whole;
          i += run.size() - 1;
        } else if (std::find(r.tile.begin(), r.tile.end(), node) != r.tile.end()) {
          return unsupported("{}: the size of an uneven tile differs between blocks", where);
        }
      }
      result = arena_.mul(result, arena_.size(node));
    }
    return result;
  }

  /// Over a tile whose last copy is shorter, terms must depend on both tile and position: only then
  /// does "sum over all pairs" mean the sum over the axis.
  Result<void> check_uneven(Nf a, const Variables& variables, const std::string& where) {
    const auto contains = [](const AtomList& list, Node node) {
      return std::find(list.begin(), list.end(), node) != list.end();
    };
    for (const Ragged& r : context_.ragged) {
      bool binds_axis = false, binds_tile = false;
      for (Var v : variables) {
        binds_axis = binds_axis || contains(r.axis, v.node);
        binds_tile = binds_tile || contains(r.tile, v.node);
      }
      if (!binds_axis && !binds_tile) continue;
      for (const Monomial& m : arena_.monomials(a)) {
        bool has_axis = false, has_tile = false;
        for (Var v : m.open) {
          has_axis = has_axis || contains(r.axis, v.node);
          has_tile = has_tile || contains(r.tile, v.node);
        }
        for (Node node : m.binders) has_axis = has_axis || contains(r.axis, node);
        if (binds_tile ? !(has_axis && has_tile) : has_tile && !has_axis)
          return unsupported("{}: a term that does not depend on an uneven split", where);
      }
    }
    return {};
  }

  Result<Nf> combined(Combine combine, Nf a, const Variables& variables, Result<Nf> size,
                      const std::string& where) {
    if (combine == Combine::Max) return arena_.maximum_over(a, variables);
    MIRAGE_TRY_VOID(check_uneven(a, variables, where));
    const Nf sum = arena_.sum(a, variables);
    if (combine != Combine::Mean) return sum;
    MIRAGE_TRY(const Nf count, std::move(size));
    return arena_.div(sum, count);
  }

  // --- operators

  Result<void> visit(size_t i) {
    const Op& op = graph_.ops[i];
    switch (ir::def(op.kind).form) {
      case ir::Form::Leaf:
        return leaf(op);
      case ir::Form::Map:
        return map(op);
      case ir::Form::Contract:
        return matmul(op);
      case ir::Form::Reduce:
        return reduce(op);
      case ir::Form::Move:
        return move(op, index_.is_opaque[i]);
      case ir::Form::Accum:
        return accumulate(op);
      case ir::Form::Block:
        return block(op, index_.blocks[i][0]);
    }
    return {};
  }

  Result<void> leaf(const Op& op) {
    if (op.kind == OpKind::Const) {
      form(op.results[0]) = arena_.literal(op.attrs.scalars[0]);
      return {};
    }
    MIRAGE_TRY(form(op.results[0]),
               size_of(dims(op.operands[0])[static_cast<size_t>(op.attrs.axis)], label(op)));
    return {};
  }

  Result<void> map(const Op& op) {
    std::vector<Nf> args;
    for (ValueId operand : op.operands) args.push_back(aligned(operand, op.results[0]));
    FormDomain domain(arena_);
    form(op.results[0]) =
        ir::eval_map<FormDomain, Nf>(op.kind, domain, op.attrs, std::span<const Nf>(args));
    return {};
  }

  Result<void> matmul(const Op& op) {
    const Dims& to = dims(op.results[0]);
    const size_t rank = to.size();
    const Variables inner = tagged(dims(op.operands[0])[rank - 1], kInnerTag);
    Nf sides[2];
    for (size_t side = 0; side < 2; ++side) {
      const Dims& from = dims(op.operands[side]);
      std::vector<Substitution> substitutions;
      for (size_t i = 0; i < rank; ++i) {
        const bool is_inner = i == (side == 0 ? rank - 1 : rank - 2);
        if (!from[i].empty())
          rename(substitutions, axis_variables(from, i), is_inner ? inner : axis_variables(to, i));
      }
      sides[side] = arena_.substitute(form(op.operands[side]), substitutions);
    }
    MIRAGE_TRY(form(op.results[0]),
               combined(Combine::Sum, arena_.mul(sides[0], sides[1]), inner, Nf{}, label(op)));
    return {};
  }

  /// The operand with the variables of `axis` renamed to inner ones, the others as in the result.
  Nf opened(ValueId operand, ValueId result, size_t axis, Variables& inner) {
    const Dims &from = dims(operand), &to = dims(result);
    inner = tagged(from[axis], kInnerTag);
    std::vector<Substitution> substitutions;
    for (size_t i = 0; i < from.size(); ++i)
      rename(substitutions, axis_variables(from, i), i == axis ? inner : axis_variables(to, i));
    return arena_.substitute(form(operand), substitutions);
  }

  Result<void> reduce(const Op& op) {
    const ValueId x = op.operands[0], y = op.results[0];
    const size_t axis = static_cast<size_t>(op.attrs.axis);
    Variables inner;
    const Nf open = opened(x, y, axis, inner);
    MIRAGE_TRY(Nf result, combined(ir::def(op.kind).combine, open, inner,
                                   size_of(dims(x)[axis], label(op)), label(op)));
    form(y) = op.kind == OpKind::GaugeMax ? arena_.function(kFinalGauge, {&result, 1}) : result;
    return {};
  }

  Result<void> move(const Op& op, bool is_opaque) {
    const ValueId x = op.operands[0], y = op.results[0];
    const Dims &from = dims(x), &to = dims(y);
    std::vector<Substitution> substitutions;
    switch (op.kind) {
      case OpKind::Transpose:
        for (size_t i = 0; i < to.size(); ++i)
          rename(substitutions, axis_variables(from, static_cast<size_t>(op.attrs.ints[i])),
                 axis_variables(to, i));
        break;
      case OpKind::Reshape:
        // The flattened list is the same, so are the variables.
        if (is_opaque)
          return select(op, x, from, to,
                        fmt::format("reshape {} {}", ir::to_string(graph_.type(x).shape),
                                    ir::to_string(graph_.type(y).shape)));
        break;
      case OpKind::Load:
        for (size_t i = 0; i < from.size(); ++i) {
          const Variables whole = axis_variables(from, i);
          Variables parts = bound_axes(op.attrs.bind[i]);
          const Variables tile = axis_variables(to, i);
          parts.insert(parts.end(), tile.begin(), tile.end());
          MIRAGE_CHECK(whole.size() == parts.size(), "a load's axis is not the list of its parts");
          rename(substitutions, whole, parts);
        }
        break;
      case OpKind::Store:
        for (size_t i = 0; i < to.size(); ++i) {
          Variables parts = bound_axes(op.attrs.bind[i]);
          const Variables tile = axis_variables(from, i);
          parts.insert(parts.end(), tile.begin(), tile.end());
          const Variables whole = axis_variables(to, i);
          MIRAGE_CHECK(whole.size() == parts.size(), "a store's axis is not the list of its parts");
          rename(substitutions, parts, whole);
        }
        break;
      case OpKind::Narrow:
      case OpKind::Concat:
        return piece(op);
      default:
        return unsupported("{}: no index rule", label(op));
    }
    form(y) = arena_.substitute(form(x), substitutions);
    if (op.kind == OpKind::Store)
      for (Var v : arena_.free_variables(form(y)))
        if (v.id >= kAxisTag)
          return unsupported(
              "{}: the value differs between steps of a block axis that the store "
              "does not bind",
              label(op));
    return {};
  }

  Variables bound_axes(const std::vector<uint8_t>& axes) const {
    Variables result;
    for (uint8_t axis : axes)
      for (Var v : block_axis(axis)) result.push_back(v);
    return result;
  }

  Nf selection(const std::string& name, const Variables& to, const Variables& from) {
    const std::vector<Var> lists[] = {to, from};
    return arena_.input(context_.selection(name), lists);
  }

  /// y[to] = sum over from of x[from] * S[to, from] with a constant 0/1 tensor S of that name.
  Result<void> select(const Op& op, ValueId x, const Dims& from, const Dims& to,
                      const std::string& name) {
    const Variables old = tagged(flattened(from), 0);
    const Variables inner = tagged(flattened(from), kInnerTag);
    std::vector<Substitution> substitutions;
    rename(substitutions, old, inner);
    const Nf open = arena_.substitute(form(x), substitutions);
    form(op.results[0]) =
        arena_.sum(arena_.mul(open, selection(name, tagged(flattened(to), 0), inner)), inner);
    return {};
  }

  /// Concat and narrow as products with selections; both sides of a split use the same ones.
  Result<void> piece(const Op& op) {
    const ValueId y = op.results[0];
    const size_t axis = static_cast<size_t>(op.attrs.axis);
    const bool is_concat = op.kind == OpKind::Concat;
    int64_t start = is_concat ? 0 : op.attrs.ints[0];
    Nf total = arena_.number(0);
    for (ValueId x : op.operands) {
      const int64_t whole = graph_.type(is_concat ? y : x).shape[axis];
      const int64_t length = graph_.type(is_concat ? x : y).shape[axis];
      Variables inner;
      Nf open = opened(x, y, axis, inner);
      if (whole != length) {
        const Variables outer = axis_variables(dims(y), axis);
        open = arena_.mul(open, selection(fmt::format("piece {} {} of {}", start, length, whole),
                                          is_concat ? outer : inner, is_concat ? inner : outer));
        MIRAGE_TRY(open, combined(Combine::Sum, open, inner, Nf{}, label(op)));
      } else {
        std::vector<Substitution> back;
        rename(back, inner, axis_variables(dims(y), axis));
        open = arena_.substitute(open, back);
      }
      total = arena_.add(total, open);
      start += length;
    }
    form(y) = total;
    return {};
  }

  Result<void> block(const Op& op, const GraphIndex& body_index) {
    std::vector<Nf> inputs;
    for (ValueId operand : op.operands) inputs.push_back(form(operand));
    Evaluator body(context_, *op.body, body_index);
    const std::vector<Nf> forms = body.run(inputs);
    for (size_t i = 0; i < op.results.size(); ++i) {
      const ValueId output = op.body->outputs[i];
      form(op.results[i]) = forms[output.index];
      if (!forms[output.index].is_valid())
        return unsupported("{}: {}", label(op), body.reason(output));
    }
    return {};
  }

  // --- accumulators

  /// The one function atom that a form is, or nothing.
  const Atom* as_function(Nf a) const {
    const auto terms = arena_.monomials(a);
    if (terms.size() != 1 || !terms[0].binders.empty() || terms[0].factors.size() != 1 ||
        terms[0].coefficient != Rational(1) || terms[0].factors[0].power != Rational(1))
      return nullptr;
    const Atom& atom = arena_.atom(terms[0].factors[0].atom);
    return atom.kind == AtomKind::Fn ? &atom : nullptr;
  }

  bool varies_in_loop(Nf a) const {
    const Variables loop = loop_variables();
    for (Var v : arena_.free_variables(a))
      if (std::find(loop.begin(), loop.end(), v) != loop.end()) return true;
    return false;
  }

  /// Value after the last step of a running maximum (or gauge) whose step value is `step`.
  Nf final_value(bool is_gauge, Nf step) {
    const Nf all = arena_.maximum_over(step, loop_variables());
    return is_gauge && all.is_valid() ? arena_.function(kFinalGauge, {&all, 1}) : all;
  }

  Result<void> accumulate(const Op& op) {
    const ValueId y = op.results[0];
    const Variables loop = loop_variables();
    if (op.kind == OpKind::RunningMax || op.kind == OpKind::RunningGauge) {
      const bool is_gauge = op.kind == OpKind::RunningGauge;
      Variables inner;
      const Nf open = opened(op.operands[0], y, static_cast<size_t>(op.attrs.axis), inner);
      const Nf step = arena_.maximum_over(open, inner);
      if (!step.is_valid() || !varies_in_loop(step)) {
        form(y) = step.is_valid() ? final_value(is_gauge, step) : Nf{};
        form(op.results[1]) = arena_.number(0);
        return {};
      }
      form(y) = arena_.function(kNow[is_gauge], {&step, 1});
      form(op.results[1]) = arena_.sub(arena_.function(kBefore[is_gauge], {&step, 1}), form(y));
      return {};
    }
    const Nf x = aligned(op.operands[0], y);
    if (!x.is_valid()) return {};
    if (op.kind == OpKind::AccumRescale) return rescale(op, x, aligned(op.operands[1], y));
    if (op.attrs.combine == Combine::Max) {
      const Atom* atom = as_function(x);
      for (size_t kind = 0; atom && kind < 2; ++kind)
        if (arena_.function_name(*atom) == kNow[kind]) {
          form(y) = final_value(kind == 1, atom->args[0]);
          return {};
        }
    }
    Result<Nf> steps = arena_.number(1);
    if (op.attrs.combine == Combine::Mean) {
      AtomList axes;
      for (Var v : loop) {
        axes.push_back(v.node);
        for (const Ragged& r : context_.ragged)
          if (std::find(r.axis.begin(), r.axis.end(), v.node) != r.axis.end())
            return unsupported("{}: mean over uneven steps", label(op));
      }
      steps = size_of(axes, label(op));
    }
    MIRAGE_TRY(form(y), combined(op.attrs.combine, x, loop, steps, label(op)));
    return {};
  }

  /// state = state * r + x with r = exp(w (m_before - m)): unrolled and telescoped, the sum over
  /// steps of x exp(w m), times exp(-w m at the end). Any other r makes an opaque family.
  Result<void> rescale(const Op& op, Nf x, Nf r) {
    const ValueId y = op.results[0];
    const Variables loop = loop_variables();
    struct Weight {
      Nf step;
      Rational now, before;
    };
    std::vector<Weight> weights[2];
    bool is_law = r.is_valid() && arena_.monomials(r).size() == 1;
    if (is_law) {
      const Monomial m = arena_.monomials(r)[0];
      is_law = m.binders.empty() && m.coefficient == Rational(1);
      for (const Factor& f : m.factors) {
        const Atom& atom = arena_.atom(f.atom);
        const Atom* fn = atom.kind == AtomKind::Exp ? as_function(atom.args[0]) : nullptr;
        bool is_known = false;
        for (size_t kind = 0; fn && kind < 2; ++kind) {
          const std::string_view name = arena_.function_name(*fn);
          const bool is_now = name == kNow[kind], is_before = name == kBefore[kind];
          if (!is_now && !is_before) continue;
          is_known = true;
          auto at = std::find_if(weights[kind].begin(), weights[kind].end(),
                                 [&](const Weight& w) { return w.step == fn->args[0]; });
          if (at == weights[kind].end()) {
            weights[kind].push_back({fn->args[0], 0, 0});
            at = weights[kind].end() - 1;
          }
          (is_now ? at->now : at->before) = f.power;
        }
        is_law = is_law && is_known;
      }
    }
    Nf before = x, after = arena_.number(1);
    for (size_t kind = 0; kind < 2; ++kind)
      for (const Weight& w : weights[kind]) {
        is_law = is_law && w.now == -w.before;
        const auto exp_times = [&](Nf a, Rational weight) {
          return arena_.exp(arena_.mul(arena_.number(weight), a));
        };
        before = arena_.mul(before, exp_times(arena_.function(kNow[kind], {&w.step, 1}), w.before));
        after = arena_.mul(after, exp_times(final_value(kind == 1, w.step), w.now));
      }
    if (is_law) {
      MIRAGE_TRY(const Nf sum, combined(Combine::Sum, before, loop, Nf{}, label(op)));
      form(y) = arena_.mul(sum, after);
    } else {
      const Nf args[] = {x, r};
      form(y) = arena_.family("accum_rescale", args, loop);
    }
    return {};
  }

  Context& context_;
  Arena& arena_;
  const Graph& graph_;
  const GraphIndex& index_;
  std::vector<Nf> forms_;
  std::vector<std::string> reasons_;
};

void collect_functions(const Arena& arena, Nf a, std::set<uint32_t>& seen,
                       std::set<std::string>& names) {
  if (!a.is_valid() || !seen.insert(a.index).second) return;
  for (const Monomial& m : arena.monomials(a))
    for (const Factor& f : m.factors) {
      const Atom& atom = arena.atom(f.atom);
      if (atom.kind == AtomKind::Fn) {
        const std::string_view name = arena.function_name(atom);
        if (name != "max" && name != "element") names.insert(std::string(name));
      }
      for (Nf arg : atom.args) collect_functions(arena, arg, seen, names);
    }
}

}  // namespace

Result<std::vector<Meaning>> meanings_of(Arena& arena, std::span<const Graph* const> graphs) {
  MIRAGE_TRY(const Unified unified, unify(arena.index(), graphs));
  Context context{arena, unified.ragged, {}};
  std::vector<Meaning> result;
  for (size_t g = 0; g < graphs.size(); ++g) {
    const Graph& graph = *graphs[g];
    const GraphIndex& index = unified.graphs[g];
    std::vector<Nf> inputs;
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      const Dims& dims = index.values[graph.inputs[i].index];
      std::vector<std::vector<Var>> lists;
      for (size_t axis = 0; axis < dims.size(); ++axis) lists.push_back(axis_variables(dims, axis));
      inputs.push_back(arena.input(static_cast<uint32_t>(i), lists));
    }
    Evaluator evaluator(context, graph, index);
    const std::vector<Nf> forms = evaluator.run(inputs);
    Meaning meaning;
    for (size_t i = 0; i < forms.size(); ++i) meaning.values.push_back({forms[i], index.values[i]});
    std::set<uint32_t> seen;
    std::set<std::string> names;
    for (ValueId output : graph.outputs) {
      if (!forms[output.index].is_valid()) return unsupported("{}", evaluator.reason(output));
      meaning.outputs.push_back(meaning.values[output.index]);
      collect_functions(arena, forms[output.index], seen, names);
    }
    meaning.uninterpreted.assign(names.begin(), names.end());
    result.push_back(std::move(meaning));
  }
  return result;
}

Result<Meaning> meaning_of(Arena& arena, const Graph& graph) {
  const Graph* const graphs[] = {&graph};
  MIRAGE_TRY(std::vector<Meaning> meanings, meanings_of(arena, graphs));
  return std::move(meanings[0]);
}

}  // namespace mirage::algebra
