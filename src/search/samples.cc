#include "search/samples.h"

#include <algorithm>
#include <cmath>

#include "ir/ops/bodies.h"
#include "util/rng.h"

namespace mirage::search {
namespace {

using ir::Form;
using ir::OpKind;

// Elements along an axis: at least three, so that nothing special to pairs (sum = max + min) holds.
constexpr int64_t kElements = 3;
constexpr size_t kFullClasses = 5;  // later ones get two elements, to bound the work
constexpr double kTolerance = 1e-9;

struct Float64 {
  using Value = double;
  double constant(double c) const { return c; }
  double add(double a, double b) const { return a + b; }
  double sub(double a, double b) const { return a - b; }
  double mul(double a, double b) const { return a * b; }
  double div(double a, double b) const { return a / b; }
  double neg(double a) const { return -a; }
  double maximum(double a, double b) const { return std::max(a, b); }
  double minimum(double a, double b) const { return std::min(a, b); }
  double pow(double a, double b) const { return std::pow(a, b); }
  double apply(ir::Fn fn, double a) const {
    switch (fn) {
      case ir::Fn::Exp:
        return std::exp(a);
      case ir::Fn::Log:
        return std::log(a);
      case ir::Fn::Sqrt:
        return std::sqrt(a);
      case ir::Fn::Erf:
        return std::erf(a);
    }
    return a;
  }
};

/// Strides of an operand for each axis of an iteration space (0 where it broadcasts).
struct Walk {
  std::vector<size_t> extents;
  std::vector<std::vector<size_t>> strides;  // by operand

  template <class F>
  void each(F f) const {
    std::vector<size_t> at(extents.size(), 0), offsets(strides.size(), 0);
    for (;;) {
      f(offsets);
      size_t axis = extents.size();
      for (;;) {
        if (axis == 0) return;
        --axis;
        for (size_t o = 0; o < strides.size(); ++o) offsets[o] += strides[o][axis];
        if (++at[axis] < extents[axis]) break;
        for (size_t o = 0; o < strides.size(); ++o) offsets[o] -= strides[o][axis] * extents[axis];
        at[axis] = 0;
      }
    }
  }
};

}  // namespace

Sampler::Sampler(const Problem& problem, uint64_t seed) : seed_(seed) {
  for (ir::ValueId input : problem.program.inputs) inputs_.push_back(problem.dims_of(input));
  Rng rng(seed ^ 0x5eed);
  for (size_t c = 0; c < problem.classes.size(); ++c) {
    extents_.push_back(c < kFullClasses ? kElements : 2);
    weights_.push_back(0.75 + 0.5 * rng.uniform());
  }
}

size_t Sampler::count(const Dims& dims) const {
  size_t count = 1;
  for (ClassId id : dims) count *= static_cast<size_t>(extent_of(id));
  return count;
}

Sample Sampler::input(size_t index) const {
  Rng rng(seed_ * 0x100 + index);
  const size_t n = count(inputs_[index]);
  Sample sample(2 * n);
  for (size_t i = 0; i < n; ++i) sample[i] = rng.uniform() * 2 - 1;
  for (size_t i = 0; i < n; ++i) sample[n + i] = rng.uniform() * 0.5 + 0.25;
  return sample;
}

Sample Sampler::extent(ClassId id) const {
  return constant(weights_[id] * static_cast<double>(extents_[id]));
}

std::optional<Sample> Sampler::apply(OpKind kind, const ir::Attrs& attrs,
                                     std::span<const Sample* const> args,
                                     std::span<const Dims* const> arg_dims,
                                     const Dims& result) const {
  const ir::OpDef& row = def(kind);
  // Iteration space: the axes of the result and then, where one is reduced, that axis.
  const size_t rank = result.size();
  const bool reduces = row.form == Form::Contract || row.form == Form::Reduce;
  const size_t axis = static_cast<size_t>(attrs.axis);
  Walk walk;
  for (ClassId id : result) walk.extents.push_back(static_cast<size_t>(extent_of(id)));
  const ClassId over = reduced_class(kind, attrs, *arg_dims[0]);
  if (reduces) walk.extents.push_back(static_cast<size_t>(extent_of(over)));
  const bool is_weighted = row.combine == ir::Combine::Sum && over != kNoClass;
  const double weight = is_weighted ? weights_[over] : 1;
  for (size_t o = 0; o < args.size(); ++o) {
    const Dims& dims = *arg_dims[o];
    std::vector<size_t> own(dims.size(), 0), strides(walk.extents.size(), 0);
    size_t stride = 1;
    for (size_t i = dims.size(); i-- > 0;) {
      if (dims[i] != kNoClass) own[i] = stride;
      stride *= static_cast<size_t>(extent_of(dims[i]));
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      size_t to = rank - dims.size() + i;
      if (kind == OpKind::Transpose)
        to = static_cast<size_t>(
            std::find(attrs.ints.begin(), attrs.ints.end(), static_cast<int64_t>(i)) -
            attrs.ints.begin());
      if (row.form == Form::Reduce && i == axis) to = rank;
      if (row.form == Form::Contract && i == (o == 0 ? rank - 1 : rank - 2)) to = rank;
      strides[to] = own[i];
    }
    walk.strides.push_back(std::move(strides));
  }

  const size_t n = count(result);
  const size_t inner = reduces ? walk.extents.back() : 1;
  Sample out(2 * n);
  Float64 domain;
  bool any_defined = false;
  for (size_t half = 0; half < 2; ++half) {
    std::vector<const double*> base;
    for (const Sample* arg : args) base.push_back(arg->data() + half * (arg->size() / 2));
    double* to = out.data() + half * n;
    size_t step = 0;
    bool defined = true;
    double scalars[2] = {0, 0};
    walk.each([&](const std::vector<size_t>& offsets) {
      for (size_t o = 0; o < base.size(); ++o) scalars[o] = base[o][offsets[o]];
      if (row.form == Form::Map) {
        *to = ir::eval_map<Float64, double>(kind, domain, attrs,
                                            std::span<const double>(scalars, base.size()));
      } else if (!reduces) {
        *to = scalars[0];
      } else {
        const double x = row.form == Form::Contract ? scalars[0] * scalars[1] : scalars[0];
        const bool is_max = row.combine == ir::Combine::Max;
        *to = step == 0 ? x : is_max ? std::max(*to, x) : *to + x;
        if (++step < inner) return;
        step = 0;
        if (row.combine == ir::Combine::Mean) *to /= static_cast<double>(inner);
        *to *= weight;
      }
      defined = defined && std::isfinite(*to) && std::abs(*to) < 1e100;
      ++to;
    });
    if (!defined)
      std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(half * n), n,
                  std::numeric_limits<double>::quiet_NaN());
    any_defined |= defined;
  }
  if (!any_defined) return std::nullopt;
  return out;
}

bool Sampler::depends_on_all(const Sample& sample, const Dims& dims) const {
  const size_t n = count(dims);
  size_t stride = n;
  for (ClassId id : dims) {
    const size_t extent = static_cast<size_t>(extent_of(id));
    stride /= extent;
    if (id == kNoClass) continue;
    bool varies = false;
    for (size_t i = 0; i < 2 * n && !varies; ++i) {
      if (i % n / stride % extent == 0 || std::isnan(sample[i])) continue;
      const double a = sample[i], b = sample[i - stride];
      varies = std::abs(a - b) > kTolerance * std::max(std::abs(a), std::abs(b));
    }
    if (!varies) return false;
  }
  return true;
}

double scale_of(const Sample& sample) {
  double scale = 0;
  for (double x : sample)
    if (std::isfinite(x)) scale = std::max(scale, std::abs(x));
  return scale;
}

bool same_sample(const Sample& a, const Sample& b, double scale) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (!(a[i] == b[i] || std::abs(a[i] - b[i]) <= kTolerance * scale)) return false;
  }
  return true;
}

}  // namespace mirage::search
