#include "property/mutate.h"

#include <functional>
#include <optional>

#include "ir/builder.h"

namespace mirage::testing {
namespace {

using ir::Attrs;
using ir::Graph;
using ir::GraphBuilder;
using ir::GraphPtr;
using ir::Op;
using ir::OpKind;
using ir::ValueId;
using Values = std::vector<ValueId>;

constexpr size_t kKernel = SIZE_MAX;

/// Where an operator is: in the kernel graph, or in the body of the kernel's operator `block`.
struct Place {
  size_t block;
  size_t op;
};

/// Adds something in place of an operator. `all` are the new values so far, by old ValueId.
using Edit = std::function<Result<Values>(GraphBuilder&, const Op&, const Values& operands,
                                          const Values& all)>;
using LaunchEdit = std::function<void(ir::Launch&)>;

Result<GraphPtr> rebuild(const Graph& graph, Place place, const Edit& edit, bool is_here,
                         const LaunchEdit& launch_edit = {}) {
  GraphBuilder builder;
  if (graph.level == ir::Level::Block) {
    ir::Launch launch = graph.launch;
    if (is_here && launch_edit) launch_edit(launch);
    MIRAGE_TRY(builder, GraphBuilder::block(std::move(launch)));
  }
  Values values(graph.values.size());
  for (ValueId input : graph.inputs) {
    MIRAGE_TRY(values[input.index], builder.input(graph.type(input), graph.value(input).name));
  }
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& op = graph.ops[i];
    Values operands, results;
    for (ValueId operand : op.operands) operands.push_back(values[operand.index]);
    if (op.body) {
      MIRAGE_TRY(GraphPtr body, rebuild(*op.body, place, edit, place.block == i, launch_edit));
      MIRAGE_TRY(results, builder.add_block(std::move(body), operands));
    } else if (is_here && place.op == i && edit) {
      MIRAGE_TRY(results, edit(builder, op, operands, values));
    } else {
      Attrs attrs = op.attrs;
      MIRAGE_TRY(results, builder.add_all(op.kind, operands, std::move(attrs)));
    }
    for (size_t k = 0; k < op.results.size(); ++k) values[op.results[k].index] = results[k];
  }
  Values outputs;
  if (graph.level == ir::Level::Kernel)
    for (ValueId output : graph.outputs) outputs.push_back(values[output.index]);
  return builder.finish(outputs);
}

bool same_interface(const Graph& a, const Graph& b) {
  for (size_t i = 0; i < a.outputs.size(); ++i)
    if (a.type(a.outputs[i]).shape != b.type(b.outputs[i]).shape) return false;
  return true;
}

std::vector<std::pair<Place, const Graph*>> places(const Graph& graph) {
  std::vector<std::pair<Place, const Graph*>> result;
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    if (!graph.ops[i].body) result.push_back({{kKernel, i}, &graph});
    if (const Graph* body = graph.ops[i].body.get())
      for (size_t k = 0; k < body->ops.size(); ++k) result.push_back({{i, k}, body});
  }
  return result;
}

Result<Values> one(Result<ValueId> id) {
  if (!id) return tl::unexpected(id.error());
  return Values{*id};
}

Edit with(OpKind kind) {
  return [kind](GraphBuilder& b, const Op& op, const Values& in, const Values&) {
    return one(b.add(kind, in, op.attrs));
  };
}
Edit with_attrs(const std::function<void(Attrs&)>& change) {
  return [change](GraphBuilder& b, const Op& op, const Values& in, const Values&) {
    Attrs attrs = op.attrs;
    change(attrs);
    return one(b.add(op.kind, in, attrs));
  };
}

std::vector<OpKind> exchanges(OpKind kind) {
  switch (kind) {
    case OpKind::Add:
      return {OpKind::Sub, OpKind::Mul, OpKind::Maximum};
    case OpKind::Sub:
      return {OpKind::Add, OpKind::Div};
    case OpKind::Mul:
      return {OpKind::Div, OpKind::Add};
    case OpKind::Div:
      return {OpKind::Mul, OpKind::Sub};
    case OpKind::Exp:
      return {OpKind::Silu, OpKind::Sigmoid, OpKind::Tanh, OpKind::Square};
    case OpKind::Silu:
      return {OpKind::Gelu, OpKind::Sigmoid, OpKind::Relu};
    case OpKind::Sqrt:
      return {OpKind::Square, OpKind::Rsqrt, OpKind::Exp};
    case OpKind::Square:
      return {OpKind::Exp, OpKind::Neg, OpKind::Relu};
    case OpKind::Sum:
      return {OpKind::Mean, OpKind::Max};
    case OpKind::Mean:
      return {OpKind::Sum, OpKind::Max};
    case OpKind::Max:
      return {OpKind::Sum};
    case OpKind::Relu:
      return {OpKind::Silu, OpKind::Neg};
    default:
      return {};
  }
}

Attrs combine(ir::Combine value) {
  Attrs attrs;
  attrs.combine = value;
  return attrs;
}

void mutate_at(const Graph& graph, const Op& op, std::vector<std::pair<std::string, Edit>>& edits) {
  const std::string name(ir::def(op.kind).name);
  const auto is_same_type = [&](ValueId a) { return graph.type(a) == graph.type(op.results[0]); };
  for (OpKind kind : exchanges(op.kind))
    edits.emplace_back(name + " -> " + std::string(ir::def(kind).name), with(kind));
  if (op.operands.size() == 2 && op.kind != OpKind::AccumRescale)
    edits.emplace_back("operands of " + name + " swapped",
                       [](GraphBuilder& b, const Op& o, const Values& in, const Values&) {
                         return one(b.add(o.kind, {in[1], in[0]}, o.attrs));
                       });
  if (ir::def(op.kind).form == ir::Form::Map)
    for (size_t k = 0; k < op.operands.size(); ++k)
      if (is_same_type(op.operands[k]))
        edits.emplace_back(name + " dropped",
                           [k](GraphBuilder&, const Op&, const Values& in, const Values&) {
                             return Result<Values>(Values{in[k]});
                           });
  if (ir::def(op.kind).has(ir::AttrKey::Axis) && op.results.size() == 1 &&
      op.kind != OpKind::Narrow && op.kind != OpKind::Concat)
    for (int64_t shift : {1, 2})
      edits.emplace_back("axis of " + name, with_attrs([&graph, &op, shift](Attrs& attrs) {
                           const int64_t rank =
                               static_cast<int64_t>(graph.type(op.operands[0]).shape.size());
                           attrs.axis = (attrs.axis + shift) % rank;
                         }));
  if (op.kind == OpKind::Const)
    for (double factor : {2.0, -1.0, 0.5, 1.001})
      edits.emplace_back("constant", with_attrs([factor](Attrs& a) { a.scalars[0] *= factor; }));
  if (op.kind == OpKind::Clamp)
    edits.emplace_back("clamp bound", with_attrs([](Attrs& a) { a.scalars[1] += 1; }));
  if (op.kind == OpKind::Narrow)
    for (int64_t shift : {-1, 1})
      edits.emplace_back("narrow off by one",
                         with_attrs([shift](Attrs& a) { a.ints[0] += shift; }));
  if (op.kind == OpKind::Load || op.kind == OpKind::Store)
    for (size_t i = 0; i < op.attrs.bind.size(); ++i) {
      if (!op.attrs.bind[i].empty())
        edits.emplace_back(name + " binding dropped",
                           with_attrs([i](Attrs& a) { a.bind[i].pop_back(); }));
      if (op.attrs.bind[i].size() > 1)
        edits.emplace_back(name + " binding reordered", with_attrs([i](Attrs& a) {
                             std::swap(a.bind[i].front(), a.bind[i].back());
                           }));
      for (size_t j = i + 1; j < op.attrs.bind.size(); ++j)
        edits.emplace_back(name + " binding exchanged",
                           with_attrs([i, j](Attrs& a) { std::swap(a.bind[i], a.bind[j]); }));
      for (size_t axis = 0; axis < graph.launch.axes.size(); ++axis)
        edits.emplace_back(name + " bound to another axis", with_attrs([i, axis](Attrs& a) {
                             a.bind[i] = {static_cast<uint8_t>(axis)};
                           }));
    }
  if (op.kind == OpKind::AccumRescale) {
    edits.emplace_back("rescale dropped",
                       [](GraphBuilder& b, const Op&, const Values& in, const Values&) {
                         return one(b.add(OpKind::Accum, {in[0]}, combine(ir::Combine::Sum)));
                       });
    edits.emplace_back(
        "rescale inverted",
        [](GraphBuilder& b, const Op&, const Values& in, const Values&) -> Result<Values> {
          MIRAGE_TRY(const ValueId one_value, b.constant(1));
          MIRAGE_TRY(const ValueId r, b.add(OpKind::Div, {one_value, in[1]}));
          return one(b.add(OpKind::AccumRescale, {in[0], r}));
        });
  }
  if (op.kind == OpKind::Accum)
    for (ir::Combine value : {ir::Combine::Sum, ir::Combine::Mean, ir::Combine::Max})
      if (value != op.attrs.combine)
        edits.emplace_back("accumulator", with_attrs([value](Attrs& a) { a.combine = value; }));
  if (op.kind == OpKind::MatMul)
    for (size_t k : {0, 1})
      edits.emplace_back(
          "operand transposed",
          [k](GraphBuilder& b, const Op&, const Values& in, const Values&) -> Result<Values> {
            Attrs perm;
            const size_t rank = b.type(in[k]).shape.size();
            for (size_t i = 0; i < rank; ++i) perm.ints.push_back(static_cast<int64_t>(i));
            std::swap(perm.ints[rank - 1], perm.ints[rank - 2]);
            Values operands = in;
            MIRAGE_TRY(operands[k], b.add(OpKind::Transpose, {in[k]}, perm));
            return one(b.add(OpKind::MatMul, operands));
          });
  // Another value of the same type in place of an operand.
  for (size_t k = 0; k < op.operands.size(); ++k)
    for (size_t other = 0; other < graph.values.size(); ++other) {
      const ValueId id{other};
      if (id == op.operands[k] || graph.type(id) != graph.type(op.operands[k])) continue;
      edits.emplace_back("operand of " + name + " exchanged",
                         [k, other](GraphBuilder& b, const Op& o, const Values& in,
                                    const Values& all) -> Result<Values> {
                           if (!all[other].is_valid()) return bad_input("not yet defined");
                           Values operands = in;
                           operands[k] = all[other];
                           return b.add_all(o.kind, operands, o.attrs);
                         });
    }
}

/// All laws that apply to an operator.
std::vector<std::pair<std::string, Edit>> laws(const Graph& graph, const Op& op) {
  std::vector<std::pair<std::string, Edit>> edits;
  const auto law = [&](std::string what, Edit edit) {
    edits.emplace_back(std::move(what), std::move(edit));
  };
  const auto def_kind = [&](size_t k) {
    const Op* def = k < op.operands.size() ? graph.def_of(op.operands[k]) : nullptr;
    return def ? std::optional(def->kind) : std::nullopt;
  };
  switch (op.kind) {
    case OpKind::Add:
    case OpKind::Mul:
      law("commute", [](GraphBuilder& b, const Op& o, const Values& in, const Values&) {
        return one(b.add(o.kind, {in[1], in[0]}));
      });
      if (def_kind(0) == op.kind) {
        const Op* inner = graph.def_of(op.operands[0]);
        law("reassociate",
            [inner](GraphBuilder& b, const Op& o, const Values& in,
                    const Values& all) -> Result<Values> {
              MIRAGE_TRY(const ValueId right,
                         b.add(o.kind, {all[inner->operands[1].index], in[1]}));
              return one(b.add(o.kind, {all[inner->operands[0].index], right}));
            });
      }
      if (op.kind == OpKind::Mul && (def_kind(0) == OpKind::Add || def_kind(0) == OpKind::Sub)) {
        const Op* inner = graph.def_of(op.operands[0]);
        law("distribute",
            [inner](GraphBuilder& b, const Op&, const Values& in,
                    const Values& all) -> Result<Values> {
              MIRAGE_TRY(const ValueId left,
                         b.add(OpKind::Mul, {all[inner->operands[0].index], in[1]}));
              MIRAGE_TRY(const ValueId right,
                         b.add(OpKind::Mul, {all[inner->operands[1].index], in[1]}));
              return one(b.add(inner->kind, {left, right}));
            });
      }
      break;
    case OpKind::Square:
      law("square as product", [](GraphBuilder& b, const Op&, const Values& in, const Values&) {
        return one(b.add(OpKind::Mul, {in[0], in[0]}));
      });
      break;
    case OpKind::Sub:
      law("sub as add",
          [](GraphBuilder& b, const Op&, const Values& in, const Values&) -> Result<Values> {
            MIRAGE_TRY(const ValueId minus, b.add(OpKind::Neg, {in[1]}));
            return one(b.add(OpKind::Add, {in[0], minus}));
          });
      break;
    case OpKind::Div:
      law("div as product",
          [](GraphBuilder& b, const Op&, const Values& in, const Values&) -> Result<Values> {
            MIRAGE_TRY(const ValueId unit, b.constant(1));
            MIRAGE_TRY(const ValueId inverse, b.add(OpKind::Div, {unit, in[1]}));
            return one(b.add(OpKind::Mul, {in[0], inverse}));
          });
      if (def_kind(1) == OpKind::Sqrt) {
        const Op* inner = graph.def_of(op.operands[1]);
        law("rsqrt",
            [inner](GraphBuilder& b, const Op&, const Values& in,
                    const Values& all) -> Result<Values> {
              MIRAGE_TRY(const ValueId r, b.add(OpKind::Rsqrt, {all[inner->operands[0].index]}));
              return one(b.add(OpKind::Mul, {in[0], r}));
            });
      }
      break;
    case OpKind::Exp:
      law("exp of minus",
          [](GraphBuilder& b, const Op&, const Values& in, const Values&) -> Result<Values> {
            MIRAGE_TRY(const ValueId minus, b.add(OpKind::Neg, {in[0]}));
            MIRAGE_TRY(const ValueId e, b.add(OpKind::Exp, {minus}));
            MIRAGE_TRY(const ValueId unit, b.constant(1));
            return one(b.add(OpKind::Div, {unit, e}));
          });
      if (def_kind(0) == OpKind::Add || def_kind(0) == OpKind::Sub) {
        const Op* inner = graph.def_of(op.operands[0]);
        law("exp of sum",
            [inner](GraphBuilder& b, const Op&, const Values&,
                    const Values& all) -> Result<Values> {
              MIRAGE_TRY(const ValueId x, b.add(OpKind::Exp, {all[inner->operands[0].index]}));
              MIRAGE_TRY(const ValueId y, b.add(OpKind::Exp, {all[inner->operands[1].index]}));
              return one(b.add(inner->kind == OpKind::Add ? OpKind::Mul : OpKind::Div, {x, y}));
            });
      }
      break;
    case OpKind::Silu:
      law("silu by exp",
          [](GraphBuilder& b, const Op&, const Values& in, const Values&) -> Result<Values> {
            MIRAGE_TRY(const ValueId e, b.add(OpKind::Exp, {in[0]}));
            MIRAGE_TRY(const ValueId unit, b.constant(1));
            MIRAGE_TRY(const ValueId below, b.add(OpKind::Add, {unit, e}));
            MIRAGE_TRY(const ValueId above, b.add(OpKind::Mul, {in[0], e}));
            return one(b.add(OpKind::Div, {above, below}));
          });
      break;
    case OpKind::Mean:
      law("mean as sum",
          [](GraphBuilder& b, const Op& o, const Values& in, const Values&) -> Result<Values> {
            MIRAGE_TRY(const ValueId total, b.add(OpKind::Sum, in, o.attrs));
            MIRAGE_TRY(const ValueId n, b.add(OpKind::Extent, in, o.attrs));
            return one(b.add(OpKind::Div, {total, n}));
          });
      break;
    case OpKind::Sum: {
      const int64_t extent = graph.type(op.operands[0]).shape[static_cast<size_t>(op.attrs.axis)];
      if (extent < 4 || extent % 2 != 0 || graph.level != ir::Level::Kernel) break;
      law("split sum",
          [extent](GraphBuilder& b, const Op& o, const Values& in,
                   const Values&) -> Result<Values> {
            Attrs low = o.attrs, high = o.attrs;
            low.ints = {0, extent / 2};
            high.ints = {extent / 2, extent / 2};
            MIRAGE_TRY(const ValueId x, b.add(OpKind::Narrow, {in[0]}, low));
            MIRAGE_TRY(const ValueId y, b.add(OpKind::Narrow, {in[0]}, high));
            MIRAGE_TRY(const ValueId sx, b.add(OpKind::Sum, {x}, o.attrs));
            MIRAGE_TRY(const ValueId sy, b.add(OpKind::Sum, {y}, o.attrs));
            return one(b.add(OpKind::Add, {sx, sy}));
          });
      break;
    }
    case OpKind::MatMul: {
      const int64_t k = graph.type(op.operands[0]).shape.back();
      if (k >= 4 && k % 2 == 0 && graph.level == ir::Level::Kernel)
        law("split product",
            [k](GraphBuilder& b, const Op&, const Values& in, const Values&) -> Result<Values> {
              const int64_t rank = static_cast<int64_t>(b.type(in[0]).shape.size());
              std::optional<ValueId> sum;
              for (int64_t start : {int64_t{0}, k / 2}) {
                Attrs left, right;
                left.axis = rank - 1;
                right.axis = rank - 2;
                left.ints = right.ints = {start, k / 2};
                MIRAGE_TRY(const ValueId x, b.add(OpKind::Narrow, {in[0]}, left));
                MIRAGE_TRY(const ValueId y, b.add(OpKind::Narrow, {in[1]}, right));
                MIRAGE_TRY(ValueId part, b.add(OpKind::MatMul, {x, y}));
                if (sum) {
                  MIRAGE_TRY(part, b.add(OpKind::Add, {*sum, part}));
                }
                sum = part;
              }
              return Values{*sum};
            });
      // (a / b) c = (a c) / b where b is one number a row.
      const Op* inner = graph.def_of(op.operands[0]);
      if (inner && (inner->kind == OpKind::Div || inner->kind == OpKind::Mul) &&
          !graph.type(inner->operands[1]).shape.empty() &&
          graph.type(inner->operands[1]).shape.back() == 1 &&
          graph.type(inner->operands[0]).shape == graph.type(inner->results[0]).shape)
        law("scale after product",
            [inner](GraphBuilder& b, const Op&, const Values& in,
                    const Values& all) -> Result<Values> {
              MIRAGE_TRY(const ValueId product,
                         b.add(OpKind::MatMul, {all[inner->operands[0].index], in[1]}));
              return one(b.add(inner->kind, {product, all[inner->operands[1].index]}));
            });
      break;
    }
    default:
      break;
  }
  if (ir::def(op.kind).form == ir::Form::Map)
    law("plus zero",
        [](GraphBuilder& b, const Op& o, const Values& in, const Values&) -> Result<Values> {
          MIRAGE_TRY(const ValueId x, b.add(o.kind, in, o.attrs));
          MIRAGE_TRY(const ValueId none, b.constant(0));
          return one(b.add(OpKind::Add, {x, none}));
        });
  return edits;
}

}  // namespace

std::vector<Changed> mutants(const Graph& graph) {
  std::vector<Changed> result;
  const auto keep = [&](const std::string& what, const Result<GraphPtr>& changed) {
    if (changed && same_interface(graph, **changed) && (*changed)->hash != graph.hash)
      result.push_back({what, *changed});
  };
  for (const auto& [place, home] : places(graph)) {
    std::vector<std::pair<std::string, Edit>> edits;
    mutate_at(*home, home->ops[place.op], edits);
    for (const auto& [what, edit] : edits)
      keep(what, rebuild(graph, place, edit, place.block == kKernel));
  }
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    if (!graph.ops[i].body) continue;
    const size_t axes = graph.ops[i].body->launch.axes.size();
    for (size_t axis = 0; axis < axes; ++axis)
      for (int change : {0, 1, 2})
        keep("trips", rebuild(graph, {i, SIZE_MAX}, {}, false, [axis, change](ir::Launch& launch) {
               int64_t& trips = launch.axes[axis].trips;
               trips = change == 0 ? trips * 2 : change == 1 ? (trips + 1) / 2 : 1;
             }));
  }
  return result;
}

Changed rewritten(const GraphPtr& graph, Rng& rng, int steps) {
  Changed current{"", graph};
  for (int step = 0; step < steps; ++step) {
    const auto all = places(*current.graph);
    for (int attempt = 0; attempt < 50; ++attempt) {
      const auto& [place, home] = all[rng.below(all.size())];
      const auto edits = laws(*home, home->ops[place.op]);
      if (edits.empty()) continue;
      const auto& [what, edit] = edits[rng.below(edits.size())];
      const auto next = rebuild(*current.graph, place, edit, place.block == kKernel);
      if (!next || !same_interface(*graph, **next)) continue;
      current = {current.what + (current.what.empty() ? "" : ", ") + what, *next};
      break;
    }
  }
  return current.graph->hash == graph->hash ? Changed{} : current;
}

}  // namespace mirage::testing
