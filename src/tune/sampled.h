#pragma once
// Error bounds from samples of rounding: the program is evaluated several times in float64 with a
// random error after every operator, as large as the roundings that a kernel may make there. How
// far the outputs spread then bounds a correct kernel, since independent roundings add in
// quadrature. For random inputs, where the bound of reference.h, which adds them up as if all had
// one sign, is too wide to tell a wrong kernel.

#include <span>
#include <vector>

#include "ir/graph.h"
#include "tune/host_tensor.h"
#include "tune/reference.h"
#include "util/result.h"

namespace mirage::tune {

/// A sampled bound is this many standard deviations of the outputs.
constexpr double kSigmas = 8;

/// Whether fewer than half of the entries of some output have a bound below 1 % of its mean size.
bool wants_samples(std::span<const ReferenceOutput> reference);

/// Lowers the bounds of `reference`, which is that of the same graph and inputs, to the sampled
/// ones where these are lower. Leaves them as they are where the deadline passes or the samples
/// would take more than an eighth of the memory.
void sharpen(const ir::Graph& graph, std::span<const HostTensor> inputs,
             const ReferenceOptions& options, std::vector<ReferenceOutput>& reference);

}  // namespace mirage::tune
