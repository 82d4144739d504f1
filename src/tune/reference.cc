#include "tune/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "ir/element.h"
#include "tune/bounded.h"

// Faster where the processor has wide vectors; the loop is the same.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define MIRAGE_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MIRAGE_WIDE
#endif

namespace mirage::tune {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Shape;
using ir::Strides;

constexpr size_t kLook = 1 << 16;  // elements between looks at the clock
constexpr double kInf = std::numeric_limits<double>::infinity();

/// A value of the graph while it is evaluated: row-major.
struct Plane {
  Shape shape;
  std::vector<double> value, magnitude;
  std::vector<double> error;  // empty: exact

  double error_at(size_t i) const { return error.empty() ? 0 : error[i]; }
};

/// Strides of an operand seen in the result's shape: 0 where it is broadcast.
Strides broadcast_strides(const Shape& operand, const Shape& result) {
  const Strides own = ir::row_major_strides(operand);
  Strides strides(result.size(), 0);
  const size_t lead = result.size() - operand.size();
  for (size_t axis = 0; axis < operand.size(); ++axis)
    if (operand[axis] != 1) strides[lead + axis] = own[axis];
  return strides;
}

std::vector<int64_t> offsets_of(const Shape& shape, const Strides& strides) {
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(ir::element_count(shape)));
  for_each_offset(shape, strides, [&](int64_t offset) { offsets.push_back(offset); });
  return offsets;
}

MIRAGE_WIDE void add_scaled(double* __restrict out, const double* __restrict in, double scale,
                            int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] += scale * in[i];
}

/// Rows [first, last) of the batched product, all batches counted through.
void multiply_rows(const std::vector<double>& a, const std::vector<double>& b,
                   std::vector<double>& out, const std::vector<int64_t>& batch_a,
                   const std::vector<int64_t>& batch_b, int64_t m, int64_t k, int64_t n,
                   int64_t first, int64_t last, const Deadline& deadline) {
  constexpr int64_t kBlock = 64;  // rows of b that stay in cache while rows of a go by
  for (int64_t k0 = 0; k0 < k; k0 += kBlock)
    for (int64_t row = first; row < last && !deadline.is_over(); ++row) {
      const auto batch = static_cast<size_t>(row / m);
      const double* row_a = a.data() + batch_a[batch] * m * k + row % m * k;
      const double* matrix_b = b.data() + batch_b[batch] * k * n;
      for (int64_t i = k0; i < std::min(k, k0 + kBlock); ++i)
        add_scaled(out.data() + row * n, matrix_b + i * n, row_a[i], n);
    }
}

class Evaluator {
 public:
  Evaluator(const ir::Graph& graph, const ReferenceOptions& options)
      : graph_(graph), options_(options), planes_(graph.values.size()) {}

  Result<std::vector<ReferenceOutput>> run(std::span<const HostTensor> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      Plane& plane = planes_[graph_.inputs[i].index];
      plane.shape = inputs[i].type().shape;
      plane.value = inputs[i].to_doubles();
      plane.magnitude.resize(plane.value.size());
      for (size_t e = 0; e < plane.value.size(); ++e)
        plane.magnitude[e] = std::fabs(plane.value[e]);
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
  static void round(ir::DType dtype, Plane& out) {
    const double u = std::max(ir::unit_roundoff(dtype), unit(dtype));
    const double least = ir::min_positive(dtype);
    const double top = ir::max_finite(dtype);
    out.error.resize(out.value.size(), 0);
    for (size_t i = 0; i < out.value.size(); ++i) {
      double& error = out.error[i];
      out.magnitude[i] = std::max(out.magnitude[i], std::fabs(out.value[i]));
      error += u * out.magnitude[i] + least;
      if (std::isnan(error) || std::fabs(out.value[i]) + error > top) error = kInf;
    }
  }

  void map(const Op& op, const ir::TensorType& type, Plane& out) {
    std::vector<std::vector<int64_t>> offsets;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const Plane& in = operand(op, i);
      offsets.push_back(in.shape == out.shape
                            ? std::vector<int64_t>{}
                            : offsets_of(out.shape, broadcast_strides(in.shape, out.shape)));
    }
    BoundedDomain domain(unit(type.dtype));
    out.error.resize(out.value.size());
    std::vector<Bounded> args(op.operands.size());
    for (size_t e = 0; e < out.value.size(); ++e) {
      if (e % kLook == 0 && options_.deadline.is_over()) return;
      for (size_t i = 0; i < args.size(); ++i) {
        const Plane& in = operand(op, i);
        const size_t at = offsets[i].empty() ? e : static_cast<size_t>(offsets[i][e]);
        args[i] = {in.value[at], in.magnitude[at], in.error_at(at)};
      }
      const Bounded result =
          ir::eval_map(op.kind, domain, op.attrs, std::span<const Bounded>(args));
      out.value[e] = result.value;
      out.magnitude[e] = result.magnitude;
      out.error[e] = result.error;
    }
  }

  void contract(const Op& op, const ir::TensorType& type, Plane& out) {
    const Plane &a = operand(op, 0), &b = operand(op, 1);
    const size_t rank = out.shape.size();
    const int64_t m = out.shape[rank - 2], n = out.shape[rank - 1], k = a.shape.back();
    const Shape batch(out.shape.begin(), out.shape.end() - 2);
    const auto batches = [&](const Shape& shape) {
      return offsets_of(batch, broadcast_strides(Shape(shape.begin(), shape.end() - 2), batch));
    };
    const auto batch_a = batches(a.shape), batch_b = batches(b.shape);
    const int64_t rows = static_cast<int64_t>(batch_a.size()) * m;
    out.error.assign(out.value.size(), 0);
    // |a b - a' b'| <= Ea |b| + (|a| + Ea) Eb, and the roundings of the sum.
    std::vector<double> most_a;
    if (!b.error.empty()) {
      most_a = a.magnitude;
      for (size_t i = 0; i < most_a.size(); ++i) most_a[i] += a.error_at(i);
    }
    const auto work = [&](int64_t first, int64_t last) {
      const auto add = [&](const std::vector<double>& x, const std::vector<double>& y,
                           std::vector<double>& to) {
        multiply_rows(x, y, to, batch_a, batch_b, m, k, n, first, last, options_.deadline);
      };
      add(a.value, b.value, out.value);
      add(a.magnitude, b.magnitude, out.magnitude);
      if (!a.error.empty()) add(a.error, b.magnitude, out.error);
      if (!b.error.empty()) add(most_a, b.error, out.error);
    };
    const int64_t share =
        std::max<int64_t>((rows + options_.threads - 1) / std::max(options_.threads, 1), 1);
    std::vector<std::thread> helpers;
    for (int64_t first = share; first < rows; first += share)
      helpers.emplace_back(work, first, std::min(rows, first + share));
    work(0, std::min(rows, share));
    for (std::thread& helper : helpers) helper.join();
    const double roundings = sum_roundings(k, type.dtype);
    for (size_t i = 0; i < out.error.size(); ++i) out.error[i] += roundings * out.magnitude[i];
  }

  void reduce(const Op& op, const ir::TensorType& type, Plane& out) {
    const Plane& in = operand(op, 0);
    const auto axis = static_cast<size_t>(op.attrs.axis);
    const int64_t n = in.shape[axis];
    int64_t inner = 1;
    for (size_t i = axis + 1; i < in.shape.size(); ++i) inner *= in.shape[i];
    const bool is_max = ir::def(op.kind).combine == ir::Combine::Max;
    const double roundings = is_max ? 0 : sum_roundings(n, type.dtype);
    const double divisor =
        ir::def(op.kind).combine == ir::Combine::Mean ? static_cast<double>(n) : 1;
    out.error.assign(out.value.size(), 0);
    for (size_t e = 0; e < out.value.size(); ++e) {
      const int64_t at = static_cast<int64_t>(e);
      const int64_t start = at / inner * n * inner + at % inner;
      Bounded all{is_max ? -kInf : 0, 0, 0};
      for (int64_t i = 0; i < n && !(is_max && std::isnan(all.value)); ++i) {
        const auto j = static_cast<size_t>(start + i * inner);
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
    }
  }

  /// Element `from` of `in` becomes element `to` of `out`.
  static void copy(const Plane& in, size_t from, Plane& out, size_t to) {
    out.value[to] = in.value[from];
    out.magnitude[to] = in.magnitude[from];
    if (!out.error.empty()) out.error[to] = in.error_at(from);
  }

  void move(const Op& op, Plane& out) {
    for (size_t i = 0; i < op.operands.size(); ++i)
      if (!operand(op, i).error.empty()) out.error.resize(out.value.size(), 0);
    if (op.kind == OpKind::Concat) return concat(op, out);
    const Plane& in = operand(op, 0);
    Strides strides = ir::row_major_strides(in.shape);
    int64_t start = 0;
    if (op.kind == OpKind::Reshape) {
      strides = ir::row_major_strides(out.shape);
    } else if (op.kind == OpKind::Transpose) {
      const Strides own = strides;
      for (size_t i = 0; i < own.size(); ++i)
        strides[i] = own[static_cast<size_t>(op.attrs.ints[i])];
    } else if (op.kind == OpKind::Narrow) {
      start = op.attrs.ints[0] * strides[static_cast<size_t>(op.attrs.axis)];
    }
    size_t to = 0;
    for_each_offset(out.shape, strides, [&](int64_t offset) {
      copy(in, static_cast<size_t>(start + offset), out, to++);
    });
  }

  void concat(const Op& op, Plane& out) {
    const auto axis = static_cast<size_t>(op.attrs.axis);
    const Strides strides = ir::row_major_strides(out.shape);
    int64_t start = 0;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      const Plane& in = operand(op, i);
      size_t from = 0;
      for_each_offset(in.shape, strides, [&](int64_t offset) {
        copy(in, from++, out, static_cast<size_t>(offset + start * strides[axis]));
      });
      start += in.shape[axis];
    }
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

double reference_work(const ir::Graph& graph) {
  double work = 0;
  for (const Op& op : graph.ops) {
    double terms = static_cast<double>(ir::element_count(graph.type(op.results[0]).shape));
    if (ir::def(op.kind).form == ir::Form::Contract)
      terms *= static_cast<double>(graph.type(op.operands[0]).shape.back());
    work += terms;
  }
  return work;
}

}  // namespace mirage::tune
