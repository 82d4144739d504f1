#pragma once
// Compare first, then time, in another process, which may crash or hang. The only maker of
// Measured: a time exists only for a build whose outputs agree with float64.

#include <chrono>
#include <span>
#include <vector>

#include "codegen/source_unit.h"
#include "runtime/compile_options.h"
#include "tune/check.h"
#include "tune/suite.h"
#include "tune/time.h"
#include "util/result.h"

namespace mirage::tune {

class GpuWorker;

class Measured {
 public:
  /// Of the build's source: text and options.
  Hash128 key() const { return key_; }
  const Timing& timing() const { return timing_; }
  const Deviation& deviation() const { return deviation_; }
  int cases() const { return cases_; }

 private:
  friend struct Measurer;
  Measured() = default;
  Hash128 key_;
  Timing timing_;
  Deviation deviation_;
  int cases_ = 0;
};

struct MeasureOptions {
  runtime::CompileOptions
      compile;  // as the unit was compiled before: the child finds it in the cache
  int threads = 1;
  std::chrono::milliseconds time_limit{20000};  // of the child
  Deadline deadline{};                          // of the child too
  TimeOptions time;
  /// Measures programs of a GPU; null: a child does, which cannot in a process that has used the
  /// GPU.
  GpuWorker* worker = nullptr;
};

/// Loads the unit in a child, compares it on every case of the suite, then times it on the first.
/// Mismatch, RunFailed (crash), Timeout, or what compile says.
Result<Measured> measure(const codegen::SourceUnit& unit, const Suite& suite,
                         const MeasureOptions& options);

/// Times builds that have been measured, in turns in one child.
Result<void> measure_again(std::span<const codegen::SourceUnit* const> units,
                           std::span<Measured* const> measured, const Suite& suite,
                           const MeasureOptions& options);

}  // namespace mirage::tune
