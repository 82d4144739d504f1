#include "tune/gpu_time.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mirage::tune {
namespace {

using runtime::cuda::CudaExecutable;
using runtime::cuda::Driver;
using runtime::cuda::Gpu;

constexpr double kOfCache = 3.5;  // bytes of all inputs together, in L2 caches
constexpr int64_t kMostSets = 1200;
constexpr int kFewestCalls = 16;  // in a graph, so that its launch does not count

int64_t sets_to_leave_the_cache(std::span<const HostTensor> inputs, const Gpu& gpu) {
  size_t bytes = 1;
  for (const HostTensor& tensor : inputs) bytes += tensor.bytes();
  const double sets =
      std::ceil(kOfCache * static_cast<double>(gpu.l2_bytes) / static_cast<double>(bytes));
  return std::clamp<int64_t>(static_cast<int64_t>(sets), 2, kMostSets);
}

}  // namespace

Result<GpuTimer::Set> GpuTimer::Set::make(const Gpu& gpu, std::span<const HostTensor> tensors) {
  Set set;
  for (const HostTensor& tensor : tensors) {
    MIRAGE_TRY(auto mirror, runtime::cuda::Mirror::make(gpu, tensor.view()));
    set.addresses.push_back(mirror.address());
    set.tensors.push_back(std::move(mirror));
  }
  return set;
}

Result<GpuTimer::Inputs> GpuTimer::rotated(std::span<const HostTensor> inputs) {
  MIRAGE_TRY(const Gpu* const gpu, runtime::cuda::gpu());
  auto sets = std::make_shared<std::vector<Set>>();
  for (int64_t left = sets_to_leave_the_cache(inputs, *gpu); left > 0; --left) {
    MIRAGE_TRY(sets->emplace_back(), Set::make(*gpu, inputs));
  }
  return sets;
}

Result<GpuTimer> GpuTimer::make(const CudaExecutable& executable, Inputs inputs,
                                std::span<const HostTensor> outputs) {
  MIRAGE_TRY(const Gpu* const gpu, runtime::cuda::gpu());
  GpuTimer timer;
  timer.driver_ = gpu->driver;
  timer.inputs_ = std::move(inputs);
  const Driver& driver = *gpu->driver;
  for (int i = 0; i < 2; ++i) {
    MIRAGE_TRY(timer.outputs_.emplace_back(), Set::make(*gpu, outputs));
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
  MIRAGE_TRY_VOID(executable.launch(inputs_->front().addresses, outputs_[0].addresses, stream_));
  MIRAGE_TRY_VOID(driver_->check(driver_->stream_synchronize(stream_), "run"));
  constexpr int kThreadLocal = 1;
  MIRAGE_TRY_VOID(driver_->check(driver_->capture_begin(stream_, kThreadLocal), "capture"));
  // Whole turns through the sets, so that the first set is cold too when the graph is replayed.
  const int sets = static_cast<int>(inputs_->size());
  calls_ = sets * ((kFewestCalls + sets - 1) / sets);
  Result<void> launched;
  for (int call = 0; launched && call < calls_; ++call) {
    const auto turn = static_cast<size_t>(call);
    launched = executable.launch((*inputs_)[turn % inputs_->size()].addresses,
                                 outputs_[turn % outputs_.size()].addresses, stream_);
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
      inputs_(std::move(other.inputs_)),
      outputs_(std::move(other.outputs_)),
      calls_(other.calls_) {}

GpuTimer::~GpuTimer() {
  if (graph_) driver_->graph_exec_destroy(graph_);
  for (runtime::cuda::Event event : {begin_, end_})
    if (event) driver_->event_destroy(event);
  if (stream_) driver_->stream_destroy(stream_);
}

Result<void> GpuTimer::warm_up(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    MIRAGE_TRY_VOID(sample());
  } while (std::chrono::steady_clock::now() < end);
  return {};
}

Result<double> GpuTimer::sample() {
  MIRAGE_TRY_VOID(driver_->check(driver_->graph_launch(graph_, stream_), "graph"));
  MIRAGE_TRY_VOID(driver_->check(driver_->event_record(begin_, stream_), "event"));
  MIRAGE_TRY_VOID(driver_->check(driver_->graph_launch(graph_, stream_), "graph"));
  MIRAGE_TRY_VOID(driver_->check(driver_->event_record(end_, stream_), "event"));
  MIRAGE_TRY_VOID(driver_->check(driver_->event_synchronize(end_), "run"));
  float milliseconds = 0;
  MIRAGE_TRY_VOID(driver_->check(driver_->event_elapsed(&milliseconds, begin_, end_), "event"));
  return 1e3 * static_cast<double>(milliseconds) / calls_;
}

}  // namespace mirage::tune
