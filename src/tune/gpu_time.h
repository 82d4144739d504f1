#pragma once
// Times of a program on the GPU, cold: a graph of calls on so many sets of inputs and outputs that
// none is still in the L2 cache when its turn comes again.

#include <span>
#include <vector>

#include "runtime/cuda/executable.h"
#include "tune/host_tensor.h"
#include "util/result.h"

namespace mirage::tune {

class GpuTimer {
 public:
  static Result<GpuTimer> make(const runtime::cuda::CudaExecutable& executable,
                               std::span<const HostTensor> inputs,
                               std::span<const HostTensor> outputs);
  GpuTimer(GpuTimer&& other) noexcept;
  GpuTimer& operator=(GpuTimer&&) = delete;
  ~GpuTimer();

  /// Replays the graph once: microseconds a call.
  Result<double> sample();

 private:
  GpuTimer() = default;
  Result<void> capture(const runtime::cuda::CudaExecutable& executable);

  struct Set {
    std::vector<runtime::cuda::Mirror> tensors;
    std::vector<runtime::cuda::DevicePtr> inputs, outputs;
  };
  const runtime::cuda::Driver* driver_ = nullptr;
  runtime::cuda::Stream stream_ = nullptr;
  runtime::cuda::GraphExec graph_ = nullptr;
  runtime::cuda::Event begin_ = nullptr, end_ = nullptr;
  std::vector<Set> sets_;
  int calls_ = 0;
};

}  // namespace mirage::tune
