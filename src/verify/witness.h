#pragma once
// Inputs over the reals on which two programs differ by more than rounding can explain.

#include <optional>

#include "interp/tensor.h"
#include "util/result.h"
#include "verify/verdict.h"

namespace mirage::verify {

/// Element k (row-major) of input i of a witness: uniform with variance scale^2.
double witness_element(uint64_t seed, double scale, size_t input, int64_t index);
/// The same for all elements.
std::vector<interp::TensorF64> witness_inputs(const ir::Graph& graph, uint64_t seed, double scale);

/// Values with a bound on their forward error, for all outputs.
struct BoundedOutputs {
  std::vector<interp::TensorF64> values, errors;
  bool surely_undefined = false;  // somewhere a root or logarithm of a negative number was taken
};
Result<BoundedOutputs> evaluate_with_bounds(const ir::Graph& graph,
                                            std::span<const interp::TensorF64> inputs);

/// A witness among a few random inputs (so many of each two scales), or nothing. Output i of the
/// reference is compared with output order[i] of the candidate.
Result<std::optional<Witness>> find_witness(const ir::Graph& reference, const ir::Graph& candidate,
                                            const std::vector<size_t>& order, uint64_t seed,
                                            int attempts);

}  // namespace mirage::verify
