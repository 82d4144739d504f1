#include "verify/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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

  /// `small` becomes the atoms of the result, whose values may be numbered in another order.
  Result<ir::GraphPtr> run(const ir::Graph& graph, const GraphAtoms& atoms, GraphAtoms& small) {
    small.block_axes = atoms.block_axes;
    small.bodies.resize(graph.ops.size());
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
        small.bodies[i] = std::make_unique<GraphAtoms>();
        MIRAGE_TRY(ir::GraphPtr body, run(*op.body, *atoms.bodies[i], *small.bodies[i]));
        MIRAGE_TRY(results, builder.add_block(std::move(body), operands));
      } else {
        MIRAGE_TRY(results, builder.add_all(op.kind, operands, small_attrs(op, atoms)));
      }
      for (size_t k = 0; k < results.size(); ++k) values[op.results[k].index] = results[k];
    }
    small.values.resize(graph.values.size());
    for (size_t i = 0; i < values.size(); ++i) small.values[values[i].index] = atoms.values[i];
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

}  // namespace

Result<SmallPair> shrink(const ir::Graph& reference, const ir::Graph& candidate,
                         Multiplicities multiplicities) {
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
  pair.is_real = !classes.has_ragged_splits();
  AxisAtoms plain;
  struct Extent {
    int64_t needed = 2;
    size_t number = 0;
  };
  std::map<int64_t, Extent> extents;  // by real extent: what is equal stays equal
  for (AtomId atom = 0; atom < classes.size(); ++atom) {
    if (classes.find(atom) != atom || classes.is_sum(atom) || classes.is_frozen(atom)) continue;
    if (classes.resolve({atom}) != AxisAtoms{atom}) continue;  // a product of other atoms
    plain.push_back(atom);
    Extent& extent =
        extents.emplace(classes.real_extent(atom), Extent{2, extents.size()}).first->second;
    // Cross-multiplied quotients: weights of one numerator and the other denominator add.
    extent.needed =
        std::max({weight(demand_a.top, atom) + weight(demand_b.bottom, atom),
                  weight(demand_b.top, atom) + weight(demand_a.bottom, atom), extent.needed});
  }
  for (size_t i = 0; i < plain.size(); ++i) {
    const int64_t real = classes.real_extent(plain[i]);
    const auto [needed, number] = extents.at(real);
    int64_t extent = std::min(needed, kLargestClass);
    if (number % 2 == 1 && extent < 3) ++extent;  // others differ
    if (extent >= real) extent = real;
    if (extent < needed) pair.is_large_enough = false;
    if (extent < real) pair.is_real = false;
    // One more, so that the sum of all weights is independent of those of any term.
    if (multiplicities != Multiplicities::None) ++extent;
    classes.set_small(plain[i], extent);
    pair.notes.push_back(fmt::format("class {}: {} -> {} (needs {})", i + 1, real, extent, needed));
  }
  Resizer resizer(classes);
  GraphAtoms small_first, small_second;
  MIRAGE_TRY(pair.reference, resizer.run(reference, first, small_first));
  MIRAGE_TRY(pair.candidate, resizer.run(candidate, second, small_second));
  if (multiplicities == Multiplicities::None) return pair;
  std::map<int64_t, AxisAtoms> groups;
  for (size_t i = 0; i < plain.size(); ++i)
    groups[multiplicities == Multiplicities::ByClass ? static_cast<int64_t>(i)
                                                     : classes.real_extent(plain[i])]
        .push_back(plain[i]);
  std::vector<AxisAtoms> alike;
  for (auto& [key, atoms] : groups) alike.push_back(std::move(atoms));
  MIRAGE_TRY(pair.reference, with_multiplicities(*pair.reference, small_first, classes, alike));
  MIRAGE_TRY(pair.candidate, with_multiplicities(*pair.candidate, small_second, classes, alike));
  return pair;
}

}  // namespace mirage::verify
