#pragma once
// float64 evaluation of any kernel graph: the reference that compiled kernels, verdicts and tests
// are held against. Inside, values are WideF64 (53-bit mantissa, 64-bit exponent): exp never
// overflows, so a bare softmax needs no maximum; results are rounded to double at the end. Every
// grid point, loop step and ragged tile of block bodies is evaluated. All functions may be called
// from several threads.

#include <cstdint>
#include <memory>
#include <span>

#include "interp/tensor.h"
#include "util/deadline.h"
#include "util/result.h"

namespace mirage::interp {

/// All outputs. Inputs are logical tensors (strides of the graph's inputs are a matter of storage),
/// in the order of graph.inputs. BadInput if shapes differ.
Result<std::vector<TensorF64>> evaluate(const ir::Graph& graph, std::span<const TensorF64> inputs);

/// All kernel-level values, by ValueId (inputs included).
Result<std::vector<TensorF64>> evaluate_values(const ir::Graph& graph,
                                               std::span<const TensorF64> inputs);

/// An input element by input and row-major logical index.
using InputElement = double (*)(const void* context, size_t input, int64_t index);

/// Single entries of the outputs of a large program, on demand: only what an entry depends on is
/// computed, and kept. Not for concurrent use of one object; objects are independent.
class LazyEvaluator {
 public:
  /// `inputs` must outlive the evaluator.
  LazyEvaluator(ir::GraphPtr graph, std::span<const TensorF64> inputs);
  /// Inputs computed when they are read.
  LazyEvaluator(ir::GraphPtr graph, InputElement element, const void* context);
  ~LazyEvaluator();
  LazyEvaluator(LazyEvaluator&&) noexcept;
  LazyEvaluator& operator=(LazyEvaluator&&) noexcept;

  /// Entry `index` (row-major) of an output. LimitExceeded once more than `work_limit` elementary
  /// operations were spent in total.
  Result<double> output(size_t output, int64_t index);
  void set_work_limit(uint64_t operations);
  /// Timeout from then on.
  void set_deadline(const Deadline& deadline);
  uint64_t work() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Entries of one output of a real-size program: a LazyEvaluator for one use.
Result<std::vector<double>> evaluate_entries(const ir::Graph& graph,
                                             std::span<const TensorF64> inputs, size_t output,
                                             std::span<const int64_t> entries);

}  // namespace mirage::interp
