#pragma once
// The float64 reference of a program at its real sizes, with a bound for every entry of what a
// correct kernel may differ by. Plain loops over the user's kernel-level operators: it shares no
// code with code generation, and interp spot-checks it.

#include <span>
#include <vector>

#include "ir/graph.h"
#include "tune/host_tensor.h"
#include "util/bytes.h"
#include "util/deadline.h"
#include "util/result.h"

namespace mirage::tune {

/// One output, row-major.
struct ReferenceOutput {
  ir::TensorType type;
  std::vector<double> values;
  std::vector<double> bounds;  // of |computed - value|; infinite where no claim can be made
};
/// For other processes (util/bytes.h).
template <class Archive, Either<ReferenceOutput> T>
void fields(Archive& archive, T& value) {
  archive(value.type.dtype, value.type.shape, value.values, value.bounds);
}

struct ReferenceOptions {
  /// Rounding errors of a sum of n terms: about 2 sqrt(n) roundings for random data, n for data
  /// whose roundings all go the same way.
  bool is_random = true;
  int threads = 1;
  Deadline deadline{};  // Timeout then
};

/// Unsupported for graphs with block operators. The graph should be gauge-safe (lower/gauge.h), or
/// a bare exp overflows float64 sooner than its kernel does.
Result<std::vector<ReferenceOutput>> reference_of(const ir::Graph& graph,
                                                  std::span<const HostTensor> inputs,
                                                  const ReferenceOptions& options = {});

/// Of the finite values.
double mean_size(std::span<const double> values);

}  // namespace mirage::tune
