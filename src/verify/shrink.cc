#include "verify/shrink.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/builder.h"
#include "verify/multiplicity.h"
#include "verify/weights.h"

namespace mirage::verify {
namespace {

constexpr int64_t kLargestClass = 5;

/// The graph with the extents of the small model; operators and wiring are the same.
class Resizer {
 public:
  explicit Resizer(const Classes& classes) : classes_(classes) {}

  Result<ir::GraphPtr> run(const ir::Graph& graph, const GraphAtoms& atoms) {
    ir::GraphBuilder builder;
    if (graph.level == ir::Level::Block) {
      ir::Launch launch = graph.launch;
      for (size_t i = 0; i < launch.axes.size(); ++i)
        launch.axes[i].trips = classes_.small_extent(atoms.block_axes[i]);
      MIRAGE_TRY(builder, ir::GraphBuilder::block(std::move(launch)));
    }
    std::vector<ir::ValueId> values(graph.values.size());
    for (ir::ValueId input : graph.inputs) {
      ir::TensorType type{graph.type(input).dtype, small_shape(atoms.values[input.index])};
      MIRAGE_TRY(values[input.index], builder.input(std::move(type), graph.value(input).name));
    }
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      const ir::Op& op = graph.ops[i];
      std::vector<ir::ValueId> operands;
      for (ir::ValueId operand : op.operands) operands.push_back(values[operand.index]);
      std::vector<ir::ValueId> results;
      if (op.body) {
        MIRAGE_TRY(ir::GraphPtr body, run(*op.body, *atoms.bodies[i]));
        MIRAGE_TRY(results, builder.add_block(std::move(body), operands));
      } else {
        MIRAGE_TRY(results, builder.add_all(op.kind, operands, small_attrs(op, atoms)));
      }
      for (size_t k = 0; k < results.size(); ++k) values[op.results[k].index] = results[k];
    }
    std::vector<ir::ValueId> outputs;
    if (graph.level == ir::Level::Kernel)
      for (ir::ValueId output : graph.outputs) outputs.push_back(values[output.index]);
    return builder.finish(outputs);
  }

 private:
  ir::Shape small_shape(const std::vector<AxisAtoms>& axes) const {
    ir::Shape shape;
    for (const AxisAtoms& axis : axes) shape.push_back(classes_.small_extent(axis));
    return shape;
  }

  ir::Attrs small_attrs(const ir::Op& op, const GraphAtoms& atoms) const {
    ir::Attrs attrs = op.attrs;
    if (op.kind == ir::OpKind::Reshape || op.kind == ir::OpKind::Store) {
      attrs.ints = small_shape(atoms.values[op.results[0].index]);
    } else if (op.kind == ir::OpKind::Narrow) {
      const AxisAtoms& axis =
          atoms.values[op.operands[0].index][static_cast<size_t>(op.attrs.axis)];
      const auto [start, length] = classes_.small_range(axis, attrs.ints[0], attrs.ints[1]);
      attrs.ints = {start, length};
    }
    return attrs;
  }

  const Classes& classes_;
};

Result<SmallPair> small_pair(const ir::Graph& reference, const ir::Graph& candidate,
                             bool has_multiplicities) {
  Classes classes;
  const GraphAtoms first = classes.analyse(reference, {});
  std::vector<std::vector<AxisAtoms>> inputs;
  for (ir::ValueId input : reference.inputs) inputs.push_back(first.values[input.index]);
  const GraphAtoms second = classes.analyse(candidate, inputs);
  for (size_t k = 0; k < reference.outputs.size(); ++k) {
    const ir::ValueId a = reference.outputs[k], b = candidate.outputs[k];
    const ir::Shape& shape = reference.type(a).shape;
    if (shape != candidate.type(b).shape) continue;  // another order of outputs
    for (size_t i = 0; i < shape.size(); ++i)
      classes.unify(first.values[a.index][i], second.values[b.index][i]);
  }
  const SizeDemand demand_a = size_demand(reference, first, classes);
  const SizeDemand demand_b = size_demand(candidate, second, classes);
  const auto weight = [](const Weights& weights, AtomId atom) {
    const auto found = weights.find(atom);
    return found == weights.end() ? int64_t{0} : found->second;
  };

  SmallPair pair;
  for (const std::string& conflict : classes.conflicts())
    pair.notes.push_back("not shrunk: " + conflict);
  if (classes.has_ragged_splits()) pair.notes.push_back("uneven tiles: even ones stand for them");
  pair.is_large_enough = classes.conflicts().empty() && !classes.has_ragged_splits();
  size_t number = 0;
  AxisAtoms plain;
  for (AtomId atom = 0; atom < classes.size(); ++atom) {
    if (classes.find(atom) != atom || classes.is_sum(atom) || classes.is_frozen(atom)) continue;
    if (classes.resolve({atom}) != AxisAtoms{atom}) continue;  // a product of other atoms
    const int64_t real = classes.real_extent(atom);
    // Cross-multiplied quotients: weights of one numerator and the other denominator add.
    const int64_t needed =
        std::max({weight(demand_a.top, atom) + weight(demand_b.bottom, atom),
                  weight(demand_b.top, atom) + weight(demand_a.bottom, atom), int64_t{2}});
    int64_t extent = std::min(needed, kLargestClass);
    if (number % 2 == 1 && extent < 3) ++extent;  // neighbours differ
    ++number;
    if (extent >= real) extent = real;
    if (extent < needed) pair.is_large_enough = false;
    // One more, so that the sum of all weights is independent of those of any term.
    if (has_multiplicities) ++extent;
    classes.set_small(atom, extent);
    plain.push_back(atom);
    pair.notes.push_back(
        fmt::format("class {}: {} -> {} (needs {})", number, real, extent, needed));
  }
  Resizer resizer(classes);
  MIRAGE_TRY(pair.reference, resizer.run(reference, first));
  MIRAGE_TRY(pair.candidate, resizer.run(candidate, second));
  if (has_multiplicities) {
    MIRAGE_TRY(pair.reference, with_multiplicities(*pair.reference, first, classes, plain));
    MIRAGE_TRY(pair.candidate, with_multiplicities(*pair.candidate, second, classes, plain));
  }
  return pair;
}

}  // namespace

Result<SmallPair> shrink(const ir::Graph& reference, const ir::Graph& candidate) {
  return small_pair(reference, candidate, false);
}

Result<SmallPair> shrink_with_multiplicities(const ir::Graph& reference,
                                             const ir::Graph& candidate) {
  return small_pair(reference, candidate, true);
}

}  // namespace mirage::verify
