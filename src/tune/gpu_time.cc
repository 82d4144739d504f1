#include "tune/gpu_time.h"

#include <algorithm>
#include <utility>

namespace mirage::tune {
namespace {

using runtime::cuda::CudaExecutable;
using runtime::cuda::Driver;
using runtime::cuda::Gpu;

constexpr double kOfCache = 3.5;  // bytes of all sets together, in L2 caches
constexpr int64_t kMostSets = 512;
constexpr int kFewestCalls = 16;  // in a graph, so that its launch does not count

}  // namespace

Result<GpuTimer> GpuTimer::make(const CudaExecutable& executable,
                                std::span<const HostTensor> inputs,
                                std::span<const HostTensor> outputs) {
  MIRAGE_TRY(const Gpu* const gpu, runtime::cuda::gpu());
  GpuTimer timer;
  timer.driver_ = gpu->driver;
  const Driver& driver = *gpu->driver;
  size_t bytes = 1;
  for (const auto& tensors : {inputs, outputs})
    for (const HostTensor& tensor : tensors) bytes += tensor.bytes();
  const int64_t sets =
      std::clamp<int64_t>(static_cast<int64_t>(kOfCache * static_cast<double>(gpu->l2_bytes) /
                                               static_cast<double>(bytes)) +
                              1,
                          2, kMostSets);
  for (int64_t i = 0; i < sets; ++i) {
    Set& set = timer.sets_.emplace_back();
    for (const auto& [tensors, addresses] :
         {std::pair(inputs, &set.inputs), std::pair(outputs, &set.outputs)})
      for (const HostTensor& tensor : tensors) {
        MIRAGE_TRY(auto mirror, runtime::cuda::Mirror::make(*gpu, tensor.view()));
        addresses->push_back(mirror.address());
        set.tensors.push_back(std::move(mirror));
      }
  }
  constexpr unsigned kNonBlocking = 1;
  MIRAGE_TRY_VOID(driver.check(driver.stream_create(&timer.stream_, kNonBlocking), "stream"));
  MIRAGE_TRY_VOID(driver.check(driver.event_create(&timer.begin_, 0), "event"));
  MIRAGE_TRY_VOID(driver.check(driver.event_create(&timer.end_, 0), "event"));
  MIRAGE_TRY_VOID(timer.capture(executable));
  return timer;
}

Result<void> GpuTimer::capture(const CudaExecutable& executable) {
  // Once outside, so that nothing is allocated while the stream is captured.
  MIRAGE_TRY_VOID(executable.launch(sets_[0].inputs, sets_[0].outputs, stream_));
  MIRAGE_TRY_VOID(driver_->check(driver_->stream_synchronize(stream_), "run"));
  constexpr int kThreadLocal = 1;
  MIRAGE_TRY_VOID(driver_->check(driver_->capture_begin(stream_, kThreadLocal), "capture"));
  calls_ = std::max(kFewestCalls, static_cast<int>(sets_.size()));
  Result<void> launched;
  for (int call = 0; launched && call < calls_; ++call) {
    const Set& set = sets_[static_cast<size_t>(call) % sets_.size()];
    launched = executable.launch(set.inputs, set.outputs, stream_);
  }
  runtime::cuda::Graph graph = nullptr;
  const int status = driver_->capture_end(stream_, &graph);
  MIRAGE_TRY_VOID(std::move(launched));
  MIRAGE_TRY_VOID(driver_->check(status, "capture"));
  const int instantiated = driver_->graph_instantiate(&graph_, graph, 0);
  driver_->graph_destroy(graph);
  return driver_->check(instantiated, "graph");
}

GpuTimer::GpuTimer(GpuTimer&& other) noexcept
    : driver_(other.driver_),
      stream_(std::exchange(other.stream_, nullptr)),
      graph_(std::exchange(other.graph_, nullptr)),
      begin_(std::exchange(other.begin_, nullptr)),
      end_(std::exchange(other.end_, nullptr)),
      sets_(std::move(other.sets_)),
      calls_(other.calls_) {}

GpuTimer::~GpuTimer() {
  if (graph_) driver_->graph_exec_destroy(graph_);
  for (runtime::cuda::Event event : {begin_, end_})
    if (event) driver_->event_destroy(event);
  if (stream_) driver_->stream_destroy(stream_);
}

Result<double> GpuTimer::sample() {
  MIRAGE_TRY_VOID(driver_->check(driver_->event_record(begin_, stream_), "event"));
  MIRAGE_TRY_VOID(driver_->check(driver_->graph_launch(graph_, stream_), "graph"));
  MIRAGE_TRY_VOID(driver_->check(driver_->event_record(end_, stream_), "event"));
  MIRAGE_TRY_VOID(driver_->check(driver_->event_synchronize(end_), "run"));
  float milliseconds = 0;
  MIRAGE_TRY_VOID(driver_->check(driver_->event_elapsed(&milliseconds, begin_, end_), "event"));
  return 1e3 * static_cast<double>(milliseconds) / calls_;
}

}  // namespace mirage::tune
