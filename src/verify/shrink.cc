#include "verify/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/builder.h"
#include "verify/multiplicity.h"
#include "verify/size_demand.h"

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

/// Axes of outputs that stand at the same place are the same.
void unify_outputs(Classes& classes, const ir::Graph& reference, const GraphAtoms& first,
                   const ir::Graph& candidate, const GraphAtoms& second) {
  for (size_t k = 0; k < reference.outputs.size(); ++k) {
    const ir::ValueId a = reference.outputs[k], b = candidate.outputs[k];
    const ir::Shape& shape = reference.type(a).shape;
    if (shape != candidate.type(b).shape) continue;  // another order of outputs
    for (size_t i = 0; i < shape.size(); ++i)
      classes.unify(first.values[a.index][i], second.values[b.index][i]);
  }
}

/// Representatives of the classes that get an extent; those of sums and products follow.
AxisAtoms plain_classes(const Classes& classes) {
  AxisAtoms plain;
  for (AtomId atom = 0; atom < classes.size(); ++atom)
    if (classes.find(atom) == atom && !classes.is_sum(atom) && !classes.is_frozen(atom) &&
        classes.resolve({atom}) == AxisAtoms{atom})
      plain.push_back(atom);
  return plain;
}

/// What the theorem asks of the classes of one real extent.
struct Need {
  int64_t extent = 2;
  size_t number = 0;  // of the real extent among all, in the order of classes
};

std::map<int64_t, Need> needs_of(const Classes& classes, const AxisAtoms& plain,
                                 const SizeDemand& a, const SizeDemand& b) {
  const auto count = [](const BinderCounts& counts, AtomId atom) {
    const auto found = counts.find(atom);
    return found == counts.end() ? int64_t{0} : found->second;
  };
  std::map<int64_t, Need> needs;  // by real extent
  for (AtomId atom : plain) {
    Need& need = needs.emplace(classes.real_extent(atom), Need{2, needs.size()}).first->second;
    // Cross-multiplied quotients: binders of one numerator and the other denominator add.
    need.extent = std::max({count(a.top, atom) + count(b.bottom, atom),
                            count(b.top, atom) + count(a.bottom, atom), need.extent});
  }
  return needs;
}

/// Gives every plain class its small extent, and says in the pair what follows from that.
void set_extents(Classes& classes, const AxisAtoms& plain, const std::map<int64_t, Need>& needs,
                 Multiplicities multiplicities, SmallPair& pair) {
  for (size_t i = 0; i < plain.size(); ++i) {
    const int64_t real = classes.real_extent(plain[i]);
    const auto [needed, number] = needs.at(real);
    int64_t extent = std::min(needed, kLargestClass);
    // Two sizes in turns: different extents, taken for each other, are then less often equal.
    if (number % 2 == 1 && extent < 3) ++extent;
    if (extent >= real) extent = real;
    if (extent < needed) pair.is_large_enough = false;
    if (extent < real) pair.is_real = false;
    // One more, so that the sum of all weights is independent of those of any term.
    if (multiplicities != Multiplicities::None) ++extent;
    classes.set_small(plain[i], extent);
    pair.notes.push_back(fmt::format("class {}: {} -> {} (needs {})", i + 1, real, extent, needed));
  }
}

/// Classes that share their weights.
std::vector<AxisAtoms> groups_of(const Classes& classes, const AxisAtoms& plain,
                                 Multiplicities multiplicities) {
  std::map<int64_t, AxisAtoms> groups;
  for (size_t i = 0; i < plain.size(); ++i) {
    const bool is_own = multiplicities == Multiplicities::ByClass;
    groups[is_own ? static_cast<int64_t>(i) : classes.real_extent(plain[i])].push_back(plain[i]);
  }
  std::vector<AxisAtoms> result;
  for (auto& [key, atoms] : groups) result.push_back(std::move(atoms));
  return result;
}

}  // namespace

Result<SmallPair> shrink(const ir::Graph& reference, const ir::Graph& candidate,
                         Multiplicities multiplicities) {
  Classes classes;
  const GraphAtoms first = classes.analyse(reference, {});
  std::vector<std::vector<AxisAtoms>> inputs;
  for (ir::ValueId input : reference.inputs) inputs.push_back(first.values[input.index]);
  const GraphAtoms second = classes.analyse(candidate, inputs);
  unify_outputs(classes, reference, first, candidate, second);

  SmallPair pair;
  for (const std::string& conflict : classes.conflicts())
    pair.notes.push_back("not shrunk: " + conflict);
  if (classes.has_ragged_splits()) pair.notes.push_back("uneven tiles: even ones stand for them");
  pair.is_large_enough = classes.conflicts().empty() && !classes.has_ragged_splits();
  pair.is_real = !classes.has_ragged_splits();
  const AxisAtoms plain = plain_classes(classes);
  const auto needs = needs_of(classes, plain, size_demand(reference, first, classes),
                              size_demand(candidate, second, classes));
  set_extents(classes, plain, needs, multiplicities, pair);

  Resizer resizer(classes);
  GraphAtoms small_first, small_second;
  MIRAGE_TRY(pair.reference, resizer.run(reference, first, small_first));
  MIRAGE_TRY(pair.candidate, resizer.run(candidate, second, small_second));
  if (multiplicities == Multiplicities::None) return pair;
  const std::vector<AxisAtoms> groups = groups_of(classes, plain, multiplicities);
  MIRAGE_TRY(pair.reference, with_multiplicities(*pair.reference, small_first, classes, groups));
  MIRAGE_TRY(pair.candidate, with_multiplicities(*pair.candidate, small_second, classes, groups));
  return pair;
}

}  // namespace mirage::verify
