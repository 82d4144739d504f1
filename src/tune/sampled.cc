#include "tune/sampled.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ir/element.h"
#include "tune/bounded.h"
#include "tune/lanes.h"
#include "tune/loops.h"
#include "tune/machine.h"
#include "util/check.h"
#include "util/rng.h"

namespace mirage::tune {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Shape;

/// A value of the graph: lane 0 and the samples, each row-major.
struct Plane {
  Shape shape;
  std::vector<std::vector<double>> lanes;  // lane 0 alone: exact
  /// The largest number that kernels may round on their way to this entry: that of terms which are
  /// subtracted, and of partial sums in any order.
  std::vector<double> size;

  bool is_exact() const { return lanes.size() == 1; }
  const std::vector<double>& lane(size_t i) const { return lanes[is_exact() ? 0 : i]; }
  size_t count() const { return lanes[0].size(); }
};

class Sampler {
 public:
  Sampler(const ir::Graph& graph, const ReferenceOptions& options)
      : graph_(graph), options_(options), planes_(graph.values.size()) {}

  /// False if it was given up.
  bool run(std::span<const HostTensor> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      Plane& plane = planes_[graph_.inputs[i].index];
      plane.shape = inputs[i].type().shape;
      plane.lanes = {inputs[i].to_doubles(options_.threads)};
      plane.size = plane.lanes[0];
      for (double& size : plane.size) size = std::fabs(size);
    }
    std::vector<size_t> last_use(graph_.values.size(), 0);
    for (size_t i = 0; i < graph_.ops.size(); ++i)
      for (ir::ValueId operand : graph_.ops[i].operands) last_use[operand.index] = i;
    for (ir::ValueId output : graph_.outputs) last_use[output.index] = graph_.ops.size();
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      evaluate(graph_.ops[i]);
      if (options_.deadline.is_over()) return false;
      for (ir::ValueId operand : graph_.ops[i].operands)
        if (last_use[operand.index] == i) planes_[operand.index] = {};
    }
    return true;
  }

  const Plane& plane(ir::ValueId id) const { return planes_[id.index]; }

 private:
  const Plane& operand(const Op& op, size_t i) const { return planes_[op.operands[i].index]; }

  template <class Work>
  void for_each_entry(const Plane& plane, const Work& work) const {
    tune::for_each_entry(options_.threads, plane.count(), options_.deadline, work);
  }

  static void make(Plane& plane, size_t lanes) {
    const auto count = static_cast<size_t>(ir::element_count(plane.shape));
    plane.lanes.assign(lanes, std::vector<double>(count, 0));
    plane.size.assign(count, 0);
  }

  void evaluate(const Op& op) {
    const ir::TensorType& type = graph_.type(op.results[0]);
    Plane out{type.shape, {}, {}};
    int64_t terms = 1;  // of the sums in this operator
    switch (ir::def(op.kind).form) {
      case ir::Form::Leaf: {
        const auto axis = static_cast<size_t>(op.attrs.axis);
        const double value = op.kind == OpKind::Const
                                 ? op.attrs.scalars[0]
                                 : static_cast<double>(operand(op, 0).shape[axis]);
        out.lanes = {{value}};
        out.size = {std::fabs(value)};
        break;
      }
      case ir::Form::Map:
        map(op, out);
        break;
      case ir::Form::Contract:
        terms = contract(op, out);
        break;
      case ir::Form::Reduce:
        terms = reduce(op, out);
        break;
      case ir::Form::Move:
        move(op, out);
        break;
      case ir::Form::Accum:
      case ir::Form::Block:
        MIRAGE_CHECK(false, "the reference refuses these before");
    }
    const bool rounds = !out.is_exact() && ir::def(op.kind).form != ir::Form::Move;
    if (rounds && op.kind != OpKind::GaugeMax) round(type.dtype, terms, out);
    planes_[op.results[0].index] = std::move(out);
  }

  /// Errors of storing the values in their type and of summing so many terms: of each entry on its
  /// own, and common to all, as where one rounded number was shared or a function errs one way.
  void round(ir::DType dtype, int64_t terms, Plane& out) {
    const double compute = dtype == ir::DType::F64 ? 0x1p-53 : 0x1p-24;
    const double store = std::max(ir::unit_roundoff(dtype), compute) + kSteps * compute;
    const double own = store + compute * std::sqrt(static_cast<double>(terms));
    const double least = ir::min_positive(dtype), top = ir::max_finite(dtype);
    const uint64_t shift_signs = rng_.next(), scale_signs = rng_.next();
    for_each_entry(out, [&](size_t e) {
      Rng draws = rng_;
      draws.skip(e);
      const uint64_t signs = draws.next();
      const double value = out.lanes[0][e];
      double& size = out.size[e];
      size = std::fmax(size, std::fabs(value));
      double squares = 0;
      for (size_t i = 1; i < out.lanes.size(); ++i) {
        const double scale = std::copysign(1.0, value) * sign(scale_signs, i);
        out.lanes[i][e] +=
            sign(signs, i) * (own * size + least) + store * size * (sign(shift_signs, i) + scale);
        squares += (out.lanes[i][e] - value) * (out.lanes[i][e] - value);
      }
      // What may overflow in some order is not claimed.
      const double reach = kSigmas * std::sqrt(squares / kSamples);
      if (std::fmax(size, std::fabs(value) + reach) <= top) return;
      for (size_t i = 1; i < out.lanes.size(); ++i) out.lanes[i][e] = std::nan("");
    });
    rng_.skip(out.count());
  }
  static double sign(uint64_t bits, size_t i) { return (bits >> i & 1) != 0 ? 1 : -1; }

  void map(const Op& op, Plane& out) {
    MIRAGE_CHECK(op.operands.size() <= kMostOperands, "an elementwise operator has more operands");
    make(out, kSamples + 1);
    const size_t arity = op.operands.size();
    std::vector<std::vector<int64_t>> offsets;
    for (size_t i = 0; i < arity; ++i)
      offsets.push_back(broadcast_offsets(operand(op, i).shape, out.shape));
    for_each_entry(out, [&](size_t e) {
      LanesDomain domain(kSigmas);
      BoundedDomain sizes(0);
      std::array<Lanes, kMostOperands> args;
      std::array<Bounded, kMostOperands> bounded;
      for (size_t i = 0; i < arity; ++i) {
        const Plane& in = operand(op, i);
        const size_t at = offsets[i].empty() ? e : static_cast<size_t>(offsets[i][e]);
        for (size_t lane = 0; lane <= kSamples; ++lane) args[i][lane] = in.lane(lane)[at];
        bounded[i] = {args[i][0], in.size[at], 0};
      }
      const Lanes result =
          ir::eval_map(op.kind, domain, op.attrs, std::span<const Lanes>(args.data(), arity));
      for (size_t lane = 0; lane <= kSamples; ++lane) out.lanes[lane][e] = result[lane];
      out.size[e] =
          ir::eval_map(op.kind, sizes, op.attrs, std::span<const Bounded>(bounded.data(), arity))
              .magnitude;
    });
  }

  int64_t contract(const Op& op, Plane& out) {
    const Plane &a = operand(op, 0), &b = operand(op, 1);
    make(out, kSamples + 1);
    const Product product(a.shape, b.shape, out.shape);
    // Terms come in any order: a partial sum is about as large as the sum, or as terms of random
    // signs make it. What was subtracted before may be multiplied out: it keeps one sign where the
    // other factor does.
    const std::vector<double> squares_a = squared(a.size), squares_b = squared(b.size);
    std::vector<double> of_a(out.count(), 0), of_b(out.count(), 0);
    const bool both_exact = a.is_exact() && b.is_exact();
    product.on_threads(options_.threads, [&](const Product::Part& part) {
      const auto add = [&](const std::vector<double>& x, const std::vector<double>& y,
                           std::vector<double>& to) {
        product.add(x, y, to, part, options_.deadline);
      };
      for (size_t lane = 0; lane <= (both_exact ? 0 : kSamples); ++lane)
        add(a.lane(lane), b.lane(lane), out.lanes[lane]);
      add(squares_a, squares_b, out.size);
      add(a.size, b.lane(0), of_a);
      add(a.lane(0), b.size, of_b);
    });
    if (both_exact) std::fill(out.lanes.begin() + 1, out.lanes.end(), out.lanes[0]);
    for_each_entry(out, [&](size_t e) {
      const double sum =
          std::fmax(std::fabs(out.lanes[0][e]), std::fmax(std::fabs(of_a[e]), std::fabs(of_b[e])));
      out.size[e] = std::sqrt(out.size[e] + sum * sum);
    });
    return product.terms();
  }
  static std::vector<double> squared(std::vector<double> values) {
    for (double& value : values) value *= value;
    return values;
  }

  int64_t reduce(const Op& op, Plane& out) {
    const Plane& in = operand(op, 0);
    make(out, kSamples + 1);
    const ReducedAxis axis(in.shape, op.attrs.axis);
    const ir::Combine combine = ir::def(op.kind).combine;
    const bool is_max = combine == ir::Combine::Max;
    const double divisor = combine == ir::Combine::Mean ? static_cast<double>(axis.n) : 1;
    constexpr double kNothing = -std::numeric_limits<double>::infinity();
    const auto all = [&](const std::vector<double>& from, std::vector<double>& to) {
      for_each_entry(out, [&](size_t e) {
        const int64_t start = axis.start(static_cast<int64_t>(e));
        double sum = !is_max ? 0 : axis.n > 0 ? from[static_cast<size_t>(start)] : kNothing;
        for (int64_t i = 0; i < axis.n; ++i) {
          const double x = from[static_cast<size_t>(start + i * axis.inner)];
          if (!is_max)
            sum += x;
          else if (!(x <= sum))
            sum = x;
        }
        to[e] = sum / divisor;
      });
    };
    for (size_t lane = 0; lane <= kSamples; ++lane) all(in.lane(lane), out.lanes[lane]);
    all(in.size, out.size);
    return is_max ? 1 : axis.n;
  }

  void move(const Op& op, Plane& out) {
    std::vector<Shape> shapes;
    size_t lanes = 1;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      shapes.push_back(operand(op, i).shape);
      lanes = std::max(lanes, operand(op, i).lanes.size());
    }
    make(out, lanes);
    const std::vector<Moved> moves = moves_of(op, shapes, out.shape);
    for (size_t i = 0; i < moves.size(); ++i) {
      const Plane& in = operand(op, i);
      moves[i].for_each(in.count(), out.count(), [&](size_t from, size_t to) {
        for (size_t lane = 0; lane < lanes; ++lane) out.lanes[lane][to] = in.lane(lane)[from];
        out.size[to] = in.size[from];
      });
    }
  }

  static constexpr double kSteps = 2;  // roundings inside an operator: a function's own error

  const ir::Graph& graph_;
  ReferenceOptions options_;
  std::vector<Plane> planes_;
  Rng rng_{1};
};

/// Entries that are pooled for their spread, which a few samples alone do not tell well: a row, or
/// all if rows are short.
size_t pool_of(const Shape& shape, size_t count) {
  constexpr int64_t kEnough = 8;
  const bool is_long = !shape.empty() && shape.back() >= kEnough;
  return is_long ? static_cast<size_t>(shape.back()) : count;
}

void lower_bounds(const Plane& plane, ReferenceOutput& output) {
  if (plane.is_exact()) return;
  const size_t count = plane.count(), pool = pool_of(plane.shape, count);
  for (size_t first = 0; first < count; first += pool) {
    std::vector<double> variance(pool, 0);
    double all = 0, known = 0;
    for (size_t e = 0; e < pool; ++e) {
      for (size_t i = 1; i <= kSamples; ++i) {
        const double error = plane.lanes[i][first + e] - plane.lanes[0][first + e];
        variance[e] += error * error / kSamples;
      }
      if (!std::isfinite(variance[e])) continue;
      all += variance[e];
      ++known;
    }
    for (size_t e = 0; e < pool; ++e)
      if (std::isfinite(variance[e]))
        output.bounds[first + e] =
            std::fmin(output.bounds[first + e], kSigmas * std::sqrt(variance[e] + all / known));
  }
}

/// Bytes if nothing were freed on the way.
double bytes_of_samples(const ir::Graph& graph) {
  double elements = 0;
  for (const ir::Op& op : graph.ops)
    elements += static_cast<double>(ir::element_count(graph.type(op.results[0]).shape));
  return elements * (kSamples + 2) * sizeof(double);
}

}  // namespace

bool wants_samples(std::span<const ReferenceOutput> reference) {
  constexpr double kSharp = 0.01;
  return std::any_of(reference.begin(), reference.end(), [](const ReferenceOutput& output) {
    const double size = mean_size(output.values);
    const auto sharp = std::count_if(output.bounds.begin(), output.bounds.end(),
                                     [&](double bound) { return bound < kSharp * size; });
    return 2 * sharp < static_cast<int64_t>(output.bounds.size());
  });
}

void sharpen(const ir::Graph& graph, std::span<const HostTensor> inputs,
             const ReferenceOptions& options, std::vector<ReferenceOutput>& reference) {
  if (bytes_of_samples(graph) * 8 > static_cast<double>(memory_bytes())) return;
  Sampler sampler(graph, options);
  if (!sampler.run(inputs)) return;
  for (size_t o = 0; o < reference.size(); ++o)
    lower_bounds(sampler.plane(graph.outputs[o]), reference[o]);
}

}  // namespace mirage::tune
