#pragma once
// Times of a program on the GPU, cold: a graph of calls on so many sets of inputs that none is
// still in the L2 cache when its turn comes again. Outputs alternate between two places, as those
// of a framework's memory pool do. bench/h200/timing.py measures PyTorch in the same way: change
// both.

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "runtime/cuda/executable.h"
#include "tune/host_tensor.h"
#include "util/result.h"

namespace mirage::tune {

class GpuTimer {
 public:
  struct Set {
    std::vector<runtime::cuda::Mirror> tensors;
    std::vector<runtime::cuda::DevicePtr> addresses;
    static Result<Set> make(const runtime::cuda::Gpu& gpu, std::span<const HostTensor> tensors);
  };
  /// On the GPU; may be used by several timers.
  using Inputs = std::shared_ptr<const std::vector<Set>>;
  static Result<Inputs> rotated(std::span<const HostTensor> inputs);

  static Result<GpuTimer> make(const runtime::cuda::CudaExecutable& executable, Inputs inputs,
                               std::span<const HostTensor> outputs);
  GpuTimer(GpuTimer&& other) noexcept;
  GpuTimer& operator=(GpuTimer&&) = delete;
  ~GpuTimer();

  /// Replays the graph for so long, so that clocks are up.
  Result<void> warm_up(std::chrono::milliseconds time);

  /// Replays the graph twice and times the second, whose launch the first one hides: microseconds a
  /// call.
  Result<double> sample();

 private:
  GpuTimer() = default;
  Result<void> capture(const runtime::cuda::CudaExecutable& executable);

  const runtime::cuda::Driver* driver_ = nullptr;
  runtime::cuda::Stream stream_ = nullptr;
  runtime::cuda::GraphExec graph_ = nullptr;
  runtime::cuda::Event begin_ = nullptr, end_ = nullptr;
  Inputs inputs_;
  std::vector<Set> outputs_;
  int calls_ = 0;
};

}  // namespace mirage::tune
