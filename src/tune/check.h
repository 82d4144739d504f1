#pragma once
// Holds what a built program computed against the float64 reference, entry by entry.

#include <span>
#include <string>

#include "runtime/executable.h"
#include "tune/host_tensor.h"
#include "tune/inputs.h"
#include "tune/reference.h"
#include "util/result.h"

namespace mirage::tune {

/// How far an output is from the reference, over all compared entries.
struct Deviation {
  double max_abs = 0;       // of finite entries
  double max_of_bound = 0;  // largest |difference| / bound: at most 1 for a correct program
  int64_t compared = 0;     // entries with a finite bound
  int64_t sharp = 0;        // of these, entries with a bound below the output's mean size
  int64_t without_bound =
      0;  // entries of which nothing is claimed (overflow, cancellation to nothing)
  /// |found - reference| / |reference|, both Euclidean over all entries finite in the reference,
  /// also those without a bound; 0 if the reference is all zeros.
  double relative = 0;
};

/// Mismatch names output, entry, family, found, expected and bound. Entries that are NaN or
/// infinite in the reference must not be finite.
Result<Deviation> compare(std::span<const HostTensor> outputs,
                          std::span<const ReferenceOutput> reference, Family family);

/// Runs with poisoned output buffers: NaN where the reference should be finite, finite where it
/// may not be; then compares.
Result<Deviation> run_and_compare(const runtime::Executable& executable, const ir::Graph& program,
                                  std::span<const HostTensor> inputs,
                                  std::span<const ReferenceOutput> reference, Family family,
                                  int threads);

/// Output tensors of a program in its output strides.
Result<std::vector<HostTensor>> make_outputs(const ir::Graph& program);

std::vector<runtime::TensorView> views_of(std::span<const HostTensor> tensors);

}  // namespace mirage::tune
