#include "verify/witness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "interp/domain_field.h"
#include "interp/evaluator.h"
#include "verify/domain_error.h"

namespace mirage::verify {

double witness_element(uint64_t seed, double scale, size_t input, int64_t index) {
  const uint64_t bits = interp::mix(seed + input, static_cast<uint64_t>(index));
  constexpr double kWidth = 3.4641016151377544;  // a uniform of this width has variance 1
  return scale * kWidth * (static_cast<double>(bits >> 11) * 0x1p-53 - 0.5);
}

std::vector<interp::TensorF64> witness_inputs(const ir::Graph& graph, uint64_t seed, double scale) {
  std::vector<interp::TensorF64> inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    interp::TensorF64 tensor(graph.type(graph.inputs[i]).shape);
    for (size_t k = 0; k < tensor.data.size(); ++k)
      tensor.data[k] = witness_element(seed, scale, i, static_cast<int64_t>(k));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

Result<BoundedOutputs> evaluate_with_bounds(const ir::Graph& graph,
                                            std::span<const interp::TensorF64> inputs) {
  interp::Evaluator<ErrorDomain> evaluator(graph);
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto& input = evaluator.input(i);
    interp::reset(input, inputs[i].shape);
    for (size_t k = 0; k < input.data.size(); ++k) input.data[k] = {inputs[i].data[k], 0};
  }
  ErrorDomain domain;
  MIRAGE_TRY_VOID(evaluator.run(domain));
  BoundedOutputs result;
  result.surely_undefined = domain.surely_undefined;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    result.values.emplace_back(evaluator.output(i).shape);
    result.errors.emplace_back(evaluator.output(i).shape);
    for (size_t k = 0; k < evaluator.output(i).data.size(); ++k) {
      result.values.back().data[k] = evaluator.output(i).data[k].value;
      result.errors.back().data[k] = evaluator.output(i).data[k].error;
    }
  }
  return result;
}

namespace {

/// Ordinary sizes first, then those around which a literal of either program makes a difference: a
/// bound of a clamp, something added under a root.
std::vector<double> scales_of(const ir::Graph& reference, const ir::Graph& candidate) {
  constexpr size_t kMost = 8;
  std::vector<double> scales = {0.5, 1.5};
  const auto add = [&](double scale) {
    const bool is_known = std::any_of(scales.begin(), scales.end(), [&](double known) {
      return scale > 0.7 * known && scale < 1.5 * known;
    });
    if (!is_known && scales.size() < kMost) scales.push_back(scale);
  };
  for (const ir::Graph* graph : {&reference, &candidate})
    for (const ir::Op& op : graph->ops)
      for (double scalar : op.attrs.scalars) {
        const double size = std::fabs(scalar);
        if (size == 0 || !std::isfinite(size)) continue;
        add(2 * size);
        add(std::sqrt(size));
      }
  return scales;
}

}  // namespace

Result<std::optional<Witness>> find_witness(const ir::Graph& reference, const ir::Graph& candidate,
                                            const std::vector<size_t>& order, uint64_t seed,
                                            int attempts) {
  const std::vector<double> scales = scales_of(reference, candidate);
  const int all_attempts = attempts * static_cast<int>(scales.size()) / 2;
  for (int attempt = 0; attempt < all_attempts; ++attempt) {
    const double scale = scales[static_cast<size_t>(attempt) % scales.size()];
    const uint64_t own_seed = interp::mix(seed, static_cast<uint64_t>(attempt));
    const std::vector<interp::TensorF64> inputs = witness_inputs(reference, own_seed, scale);
    MIRAGE_TRY(const BoundedOutputs a, evaluate_with_bounds(reference, inputs));
    MIRAGE_TRY(const BoundedOutputs b, evaluate_with_bounds(candidate, inputs));
    for (size_t i = 0; i < a.values.size(); ++i) {
      const interp::TensorF64& x = a.values[i];
      const interp::TensorF64& y = b.values[order[i]];
      if (x.shape != y.shape) continue;
      for (size_t k = 0; k < x.data.size(); ++k) {
        const double bound = a.errors[i].data[k] + b.errors[order[i]].data[k];
        if (!std::isfinite(x.data[k])) continue;
        const bool is_undefined = b.surely_undefined && std::isnan(y.data[k]);
        const bool is_far = std::isfinite(bound) && std::isfinite(y.data[k]) &&
                            std::fabs(x.data[k] - y.data[k]) > bound;
        if (!is_undefined && !is_far) continue;
        Witness witness;
        for (const interp::TensorF64& input : inputs) witness.input_shapes.push_back(input.shape);
        witness.seed = own_seed;
        witness.scale = scale;
        witness.output = i;
        witness.entry = static_cast<int64_t>(k);
        witness.reference = x.data[k];
        witness.candidate = y.data[k];
        witness.bound = bound;
        return std::optional(std::move(witness));
      }
    }
  }
  return std::optional<Witness>{};
}

}  // namespace mirage::verify
