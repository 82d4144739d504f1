#include "tune/reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ir/element.h"
#include "tune/bounded.h"
#include "tune/loops.h"
#include "util/check.h"

namespace mirage::tune {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Shape;

constexpr double kInf = std::numeric_limits<double>::infinity();

/// A value of the graph while it is evaluated: row-major.
struct Plane {
  Shape shape;
  std::vector<double> value, magnitude;
  std::vector<double> error;  // empty: exact

  double error_at(size_t i) const { return error.empty() ? 0 : error[i]; }
};

class Evaluator {
 public:
  Evaluator(const ir::Graph& graph, const ReferenceOptions& options)
      : graph_(graph), options_(options), planes_(graph.values.size()) {}

  Result<std::vector<ReferenceOutput>> run(std::span<const HostTensor> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      Plane& plane = planes_[graph_.inputs[i].index];
      plane.shape = inputs[i].type().shape;
      plane.value = inputs[i].to_doubles(options_.threads);
      plane.magnitude.resize(plane.value.size());
      for_each_entry(plane, [&](size_t e) { plane.magnitude[e] = std::fabs(plane.value[e]); });
    }
    std::vector<size_t> last_use(graph_.values.size(), 0);
    for (size_t i = 0; i < graph_.ops.size(); ++i)
      for (ir::ValueId operand : graph_.ops[i].operands) last_use[operand.index] = i;
    for (ir::ValueId output : graph_.outputs) last_use[output.index] = graph_.ops.size();
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      MIRAGE_TRY_VOID(evaluate(graph_.ops[i]));
      if (options_.deadline.is_over()) return fail(Code::Timeout, "the reference was given up");
      for (ir::ValueId operand : graph_.ops[i].operands)
        if (last_use[operand.index] == i) planes_[operand.index] = {};
    }
    std::vector<ReferenceOutput> outputs;
    for (ir::ValueId output : graph_.outputs) outputs.push_back(finish(output));
    return outputs;
  }

 private:
  Plane& operand(const Op& op, size_t i) { return planes_[op.operands[i].index]; }

  template <class Work>
  void for_each_entry(const Plane& plane, const Work& work) const {
    tune::for_each_entry(options_.threads, plane.value.size(), options_.deadline, work);
  }

  /// Roundings of a sum of n terms in the type it is accumulated in.
  double sum_roundings(int64_t n, ir::DType dtype) const {
    const auto terms = static_cast<double>(n);
    return (options_.is_random ? std::min(terms, 2 * std::sqrt(terms) + 8) : terms) * unit(dtype);
  }
  /// Sums and elementwise arithmetic of narrow types are done in f32.
  static double unit(ir::DType dtype) { return dtype == ir::DType::F64 ? 0x1p-53 : 0x1p-24; }

  Result<void> evaluate(const Op& op) {
    const ir::ValueId id = op.results[0];
    const ir::TensorType& type = graph_.type(id);
    Plane out{type.shape, {}, {}, {}};
    const auto count = static_cast<size_t>(ir::element_count(type.shape));
    out.value.assign(count, 0);
    out.magnitude.assign(count, 0);
    switch (ir::def(op.kind).form) {
      case ir::Form::Leaf: {
        const auto axis = static_cast<size_t>(op.attrs.axis);
        out.value[0] = op.kind == OpKind::Const ? op.attrs.scalars[0]
                                                : static_cast<double>(operand(op, 0).shape[axis]);
        out.magnitude[0] = std::fabs(out.value[0]);
        break;
      }
      case ir::Form::Map:
        map(op, type, out);
        round(type.dtype, out);
        break;
      case ir::Form::Contract:
        contract(op, type, out);
        round(type.dtype, out);
        break;
      case ir::Form::Reduce:
        reduce(op, type, out);
        if (op.kind != OpKind::GaugeMax) round(type.dtype, out);
        break;
      case ir::Form::Move:
        move(op, out);
        break;
      case ir::Form::Accum:
      case ir::Form::Block:
        return unsupported("the float64 reference has no operator {}", ir::def(op.kind).name);
    }
    planes_[id.index] = std::move(out);
    return {};
  }

  /// A kernel may store this value in its type: one rounding, gradual underflow, overflow.
  void round(ir::DType dtype, Plane& out) const {
    const double u = std::max(ir::unit_roundoff(dtype), unit(dtype));
    const double least = ir::min_positive(dtype);
    const double top = ir::max_finite(dtype);
    out.error.resize(out.value.size(), 0);
    for_each_entry(out, [&](size_t i) {
      double& error = out.error[i];
      out.magnitude[i] = std::max(out.magnitude[i], std::fabs(out.value[i]));
      error += u * out.magnitude[i] + least;
      if (std::isnan(error) || std::fabs(out.value[i]) + error > top) error = kInf;
    });
  }

  void map(const Op& op, const ir::TensorType& type, Plane& out) {
    MIRAGE_CHECK(op.operands.size() <= kMostOperands, "an elementwise operator has more operands");
    std::vector<std::vector<int64_t>> offsets;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const Plane& in = operand(op, i);
      offsets.push_back(broadcast_offsets(in.shape, out.shape));
    }
    out.error.resize(out.value.size());
    for_each_entry(out, [&](size_t e) {
      BoundedDomain domain(unit(type.dtype));
      std::array<Bounded, kMostOperands> args;
      for (size_t i = 0; i < offsets.size(); ++i) {
        const Plane& in = operand(op, i);
        const size_t at = offsets[i].empty() ? e : static_cast<size_t>(offsets[i][e]);
        args[i] = {in.value[at], in.magnitude[at], in.error_at(at)};
      }
      const Bounded result = ir::eval_map(op.kind, domain, op.attrs,
                                          std::span<const Bounded>(args.data(), offsets.size()));
      out.value[e] = result.value;
      out.magnitude[e] = result.magnitude;
      out.error[e] = result.error;
    });
  }

  void contract(const Op& op, const ir::TensorType& type, Plane& out) {
    const Plane &a = operand(op, 0), &b = operand(op, 1);
    const Product product(a.shape, b.shape, out.shape);
    out.error.assign(out.value.size(), 0);
    // |a b - a' b'| <= Ea |b| + (|a| + Ea) Eb, and the roundings of the sum.
    std::vector<double> most_a;
    if (!b.error.empty()) {
      most_a = a.magnitude;
      for (size_t i = 0; i < most_a.size(); ++i) most_a[i] += a.error_at(i);
    }
    product.on_threads(options_.threads, [&](const Product::Part& part) {
      const auto add = [&](const std::vector<double>& x, const std::vector<double>& y,
                           std::vector<double>& to) {
        product.add(x, y, to, part, options_.deadline);
      };
      add(a.value, b.value, out.value);
      add(a.magnitude, b.magnitude, out.magnitude);
      if (!a.error.empty()) add(a.error, b.magnitude, out.error);
      if (!b.error.empty()) add(most_a, b.error, out.error);
    });
    const double roundings = sum_roundings(product.terms(), type.dtype);
    for_each_entry(out, [&](size_t i) { out.error[i] += roundings * out.magnitude[i]; });
  }

  void reduce(const Op& op, const ir::TensorType& type, Plane& out) {
    const Plane& in = operand(op, 0);
    const ReducedAxis axis(in.shape, op.attrs.axis);
    const bool is_max = ir::def(op.kind).combine == ir::Combine::Max;
    const double roundings = is_max ? 0 : sum_roundings(axis.n, type.dtype);
    const double divisor =
        ir::def(op.kind).combine == ir::Combine::Mean ? static_cast<double>(axis.n) : 1;
    out.error.assign(out.value.size(), 0);
    for_each_entry(out, [&](size_t e) {
      const int64_t start = axis.start(static_cast<int64_t>(e));
      Bounded all{is_max ? -kInf : 0, 0, 0};
      for (int64_t i = 0; i < axis.n && !(is_max && std::isnan(all.value)); ++i) {
        const auto j = static_cast<size_t>(start + i * axis.inner);
        if (is_max) {
          if (!(in.value[j] <= all.value)) all.value = in.value[j];
          all.magnitude = std::max(all.magnitude, in.magnitude[j]);
          all.error = std::max(all.error, in.error_at(j));
        } else {
          all.value += in.value[j];
          all.magnitude += in.magnitude[j];
          all.error += in.error_at(j);
        }
      }
      // A shift that must not matter carries no error of its own.
      if (op.kind == OpKind::GaugeMax) {
        if (std::isinf(all.value)) all.value = 0;
        all = {all.value, std::fabs(all.value), 0};
      }
      out.value[e] = all.value / divisor;
      out.magnitude[e] = all.magnitude / divisor;
      out.error[e] = (all.error + roundings * all.magnitude) / divisor;
    });
  }

  /// Element `from` of `in` becomes element `to` of `out`.
  static void copy(const Plane& in, size_t from, Plane& out, size_t to) {
    out.value[to] = in.value[from];
    out.magnitude[to] = in.magnitude[from];
    if (!out.error.empty()) out.error[to] = in.error_at(from);
  }

  void move(const Op& op, Plane& out) {
    std::vector<Shape> shapes;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (!operand(op, i).error.empty()) out.error.resize(out.value.size(), 0);
      shapes.push_back(operand(op, i).shape);
    }
    const std::vector<Moved> moves = moves_of(op, shapes, out.shape);
    for (size_t i = 0; i < moves.size(); ++i)
      moves[i].for_each(operand(op, i).value.size(), out.value.size(),
                        [&](size_t from, size_t to) { copy(operand(op, i), from, out, to); });
  }

  ReferenceOutput finish(ir::ValueId id) const {
    constexpr double kSlack = 4;
    const Plane& plane = planes_[id.index];
    const ir::TensorType& type = graph_.type(id);
    ReferenceOutput output{type, plane.value, plane.error};
    // An output that is an input, moved, is exact.
    output.bounds.resize(plane.value.size(), 0);
    for (double& bound : output.bounds) bound = std::isnan(bound) ? kInf : kSlack * bound;
    return output;
  }

  const ir::Graph& graph_;
  ReferenceOptions options_;
  std::vector<Plane> planes_;
};

}  // namespace

Result<std::vector<ReferenceOutput>> reference_of(const ir::Graph& graph,
                                                  std::span<const HostTensor> inputs,
                                                  const ReferenceOptions& options) {
  return Evaluator(graph, options).run(inputs);
}

double mean_size(std::span<const double> values) {
  double sum = 0, count = 0;
  for (double value : values) {
    if (!std::isfinite(value)) continue;
    sum += std::fabs(value);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace mirage::tune
