#include "verify/constants.h"

#include <cmath>
#include <optional>
#include <set>

#include "ir/builder.h"

namespace mirage::verify {
namespace {

enum class Tie { Extent, Inverse, Root, InverseRoot };

/// 1 / sqrt(n) as programs compute it: rounded once or twice. A literal further off is another
/// number, however near.
bool is_inverse_root(double value, double n) {
  const double root = std::sqrt(n), inverse = 1 / root;
  if (value == inverse) return true;
  const bool is_exact = root == std::floor(root);
  return !is_exact &&
         (value == std::nextafter(inverse, 0.0) || value == std::nextafter(inverse, 1.0));
}

std::optional<Tie> tie_of(double value, int64_t extent) {
  if (extent < 2) return std::nullopt;
  const double n = static_cast<double>(extent);
  const double size = std::fabs(value);
  if (size == n) return Tie::Extent;
  if (size == 1 / n) return Tie::Inverse;
  if (size == std::sqrt(n)) return Tie::Root;
  if (is_inverse_root(size, n)) return Tie::InverseRoot;
  return std::nullopt;
}

void collect(const ir::Graph& graph, std::set<int64_t>& extents, std::set<double>& literals) {
  for (const ir::Value& value : graph.values)
    extents.insert(value.type.shape.begin(), value.type.shape.end());
  for (const ir::Axis& axis : graph.launch.axes) extents.insert(axis.trips);
  for (const ir::Op& op : graph.ops) {
    literals.insert(op.attrs.scalars.begin(), op.attrs.scalars.end());
    if (op.body) collect(*op.body, extents, literals);
  }
}

class Tier {
 public:
  Result<ir::GraphPtr> run(const ir::Graph& graph) {
    ir::GraphBuilder builder;
    const bool is_block = graph.level == ir::Level::Block;
    if (is_block) {
      MIRAGE_TRY(builder, ir::GraphBuilder::block(graph.launch));
    }
    std::vector<ir::ValueId> values(graph.values.size());
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      // Extents are f64 and no longer weak once computed with; types do not matter to values.
      ir::TensorType type{ir::DType::F64, graph.type(graph.inputs[i]).shape};
      MIRAGE_TRY(values[graph.inputs[i].index], builder.input(std::move(type)));
    }
    for (const ir::Op& op : graph.ops) {
      std::vector<ir::ValueId> operands, results;
      for (ir::ValueId operand : op.operands) operands.push_back(values[operand.index]);
      if (op.body) {
        MIRAGE_TRY(ir::GraphPtr body, run(*op.body));
        MIRAGE_TRY(results, builder.add_block(std::move(body), operands));
      } else if (op.kind == ir::OpKind::Const) {
        MIRAGE_TRY(const ir::ValueId id, literal(builder, graph, values, op.attrs.scalars[0]));
        results.push_back(id);
      } else {
        MIRAGE_TRY(results, builder.add_all(op.kind, operands, op.attrs));
      }
      for (size_t k = 0; k < results.size(); ++k) values[op.results[k].index] = results[k];
    }
    std::vector<ir::ValueId> outputs;
    if (!is_block)
      for (ir::ValueId output : graph.outputs) outputs.push_back(values[output.index]);
    return builder.finish(outputs);
  }

 private:
  /// The literal as a function of the extent of an input's axis, or itself. Contracted axes first
  /// would need more knowledge; the last matching axis of the first matching input is taken.
  Result<ir::ValueId> literal(ir::GraphBuilder& builder, const ir::Graph& graph,
                              const std::vector<ir::ValueId>& values, double value) {
    for (ir::ValueId input : graph.inputs) {
      const ir::Shape& shape = graph.type(input).shape;
      for (size_t i = shape.size(); i-- > 0;) {
        const std::optional<Tie> tie = tie_of(value, shape[i]);
        if (!tie) continue;
        ir::Attrs attrs;
        attrs.axis = static_cast<int64_t>(i);
        MIRAGE_TRY(ir::ValueId id, builder.add(ir::OpKind::Extent, {values[input.index]}, attrs));
        if (*tie == Tie::Root || *tie == Tie::InverseRoot) {
          MIRAGE_TRY(id, builder.add(ir::OpKind::Sqrt, {id}));
        }
        MIRAGE_TRY(const ir::ValueId sign, builder.constant(value < 0 ? -1 : 1));
        const bool is_inverse = *tie == Tie::Inverse || *tie == Tie::InverseRoot;
        return builder.add(is_inverse ? ir::OpKind::Div : ir::OpKind::Mul, {sign, id});
      }
    }
    return builder.constant(value);
  }
};

}  // namespace

bool has_extent_constants(const ir::Graph& reference, const ir::Graph& candidate) {
  std::set<int64_t> extents;
  std::set<double> literals;
  collect(reference, extents, literals);
  collect(candidate, extents, literals);
  extents.insert(1);
  for (double literal : literals)
    for (int64_t one : extents)
      for (int64_t other : extents)
        if (one <= other && tie_of(literal, one * other)) return true;
  return false;
}

Result<ir::GraphPtr> tie_constants(const ir::Graph& graph) { return Tier().run(graph); }

}  // namespace mirage::verify
