#include "tune/gpu_worker.h"

#include <optional>

#include "ir/text.h"
#include "runtime/cuda/compile.h"
#include "runtime/cuda/executable.h"
#include "tune/measure.h"
#include "util/bytes.h"

namespace mirage::tune {
namespace {

constexpr std::chrono::seconds kStart{60};  // of a process, and a suite on its way to it
constexpr std::chrono::minutes kIdle{1};    // after which it gives its place on the GPU back

enum class Request : uint8_t { Suite, TryOut, TimeInTurns };

// What goes both ways, in the order of its members.

struct Program {
  codegen::SourceUnit unit;
  std::string cubin;
};
template <class Archive, Either<Program> T>
void fields(Archive& archive, T& value) {
  archive(value.unit, value.cubin);
}

struct Work {
  std::vector<Program> programs;
  int threads = 1;
  std::chrono::milliseconds warm_up{}, budget{};
  int min_samples = 0, max_samples = 0;
  double seconds_left = 0;  // until no more samples are taken
};
template <class Archive, Either<Work> T>
void fields(Archive& archive, T& value) {
  archive(value.programs, value.threads, value.warm_up, value.budget, value.min_samples,
          value.max_samples, value.seconds_left);
}

void pack(Packer& packer, const HostTensor& tensor) {
  packer(tensor.type().dtype, tensor.type().shape, tensor.strides());
  packer.raw(tensor.memory(), tensor.bytes());
}

Result<HostTensor> unpack_tensor(Unpacker& unpacker) {
  ir::TensorType type;
  ir::Strides strides;
  unpacker(type.dtype, type.shape, strides);
  MIRAGE_TRY(HostTensor tensor, HostTensor::make(std::move(type), std::move(strides)));
  unpacker.raw(tensor.memory(), tensor.bytes());
  return tensor;
}

std::string packed(const Suite& suite) {
  Packer packer;
  packer(Request::Suite, ir::print(*suite.program), suite.cases.size());
  for (const TestCase& test : suite.cases) {
    packer(test.family, test.inputs.size());
    for (const HostTensor& input : test.inputs) pack(packer, input);
    packer(test.reference);
  }
  return packer.take();
}

Result<Suite> unpack_suite(Unpacker& unpacker) {
  Suite suite;
  std::string text;
  size_t cases = 0;
  unpacker(text, cases);
  MIRAGE_TRY(const std::vector<ir::GraphPtr> graphs, ir::parse(text));
  suite.program = graphs.at(0);
  for (size_t i = 0; i < cases; ++i) {
    TestCase& test = suite.cases.emplace_back();
    size_t inputs = 0;
    unpacker(test.family, inputs);
    for (size_t j = 0; j < inputs; ++j) {
      MIRAGE_TRY(HostTensor input, unpack_tensor(unpacker));
      test.inputs.push_back(std::move(input));
    }
    unpacker(test.reference);
  }
  if (!unpacker.is_done()) return fail(Code::Internal, "a suite that is cut short");
  return suite;
}

template <class T>
std::string packed(const Result<T>& result) {
  Packer packer;
  packer(result.has_value());
  if (!result)
    packer(result.error());
  else if constexpr (!std::is_void_v<T>)
    packer(*result);
  return packer.take();
}

template <class T>
Result<T> unpack_result(std::string_view answer) {
  Unpacker unpacker(answer);
  bool is_fine = false;
  unpacker(is_fine);
  if (!is_fine) {
    Error error;
    unpacker(error);
    if (unpacker.is_done()) return tl::unexpected(std::move(error));
  } else if constexpr (std::is_void_v<T>) {
    if (unpacker.is_done()) return {};
  } else {
    T value{};
    unpacker(value);
    if (unpacker.is_done()) return value;
  }
  return fail(Code::Internal, "the worker gave no answer that can be read");
}

/// The worker's side.
class Server {
 public:
  std::string answer(std::string_view bytes) {
    Unpacker unpacker(bytes);
    Request request{};
    unpacker(request);
    switch (request) {
      case Request::Suite:
        return packed(take_suite(unpacker));
      case Request::TryOut:
        return packed(try_out(unpacker));
      case Request::TimeInTurns:
        return packed(time_in_turns(unpacker));
    }
    return packed(Result<void>(fail(Code::Internal, "an unknown request")));
  }

 private:
  Result<void> take_suite(Unpacker& unpacker) {
    suite_.reset();  // before there are two
    MIRAGE_TRY(suite_, unpack_suite(unpacker));
    MIRAGE_TRY_VOID(runtime::cuda::gpu());
    return {};
  }

  Result<Outcome> try_out(Unpacker& unpacker) {
    Work work;
    MIRAGE_TRY(const auto executables, load(unpacker, work));
    return tune::try_out(executables.at(0), *suite_, work.threads, time_of(work));
  }

  Result<std::vector<Timing>> time_in_turns(Unpacker& unpacker) {
    Work work;
    MIRAGE_TRY(const auto executables, load(unpacker, work));
    return tune::time_in_turns(executables, *suite_, work.threads, time_of(work));
  }

  Result<std::vector<ExecutablePtr>> load(Unpacker& unpacker, Work& work) const {
    unpacker(work);
    if (!unpacker.is_done() || !suite_) return fail(Code::Internal, "a request that is cut short");
    std::vector<ExecutablePtr> executables;
    for (const Program& program : work.programs) {
      MIRAGE_TRY(executables.emplace_back(),
                 runtime::cuda::load_cubin(program.cubin, program.unit));
    }
    return executables;
  }

  static TimeOptions time_of(const Work& work) {
    TimeOptions time;
    time.warm_up = work.warm_up;
    time.budget = work.budget;
    time.min_samples = work.min_samples;
    time.max_samples = work.max_samples;
    time.deadline = Deadline::in_seconds(work.seconds_left);
    return time;
  }

  std::optional<Suite> suite_;
};

}  // namespace

Result<void> GpuWorker::prepare(const Suite& suite, const MeasureOptions& options) {
  MIRAGE_TRY(const int process, worker_.ensure_running());
  if (process == has_suite_) return {};
  Result<std::string> answer = worker_.call(packed(suite), kStart, options.deadline);
  Result<void> taken = answer ? unpack_result<void>(*answer) : tl::unexpected(answer.error());
  if (taken)
    has_suite_ = process;
  else
    taken.error().message = "the process that measures on the GPU: " + taken.error().message;
  return taken;
}

Result<std::string> GpuWorker::call(std::span<const codegen::SourceUnit* const> units,
                                    bool is_first, const Suite& suite,
                                    const MeasureOptions& options) {
  Work work;
  for (const codegen::SourceUnit* unit : units) {
    MIRAGE_TRY(std::string cubin, runtime::cubin_of(*unit, options.compile));
    work.programs.push_back({*unit, std::move(cubin)});
  }
  const std::lock_guard lock(mutex_);
  MIRAGE_TRY_VOID(prepare(suite, options));
  work.threads = options.threads;
  work.warm_up = options.time.warm_up;
  work.budget = options.time.budget;
  work.min_samples = options.time.min_samples;
  work.max_samples = options.time.max_samples;
  work.seconds_left = options.time.deadline.seconds_left();
  Packer packer;
  packer(is_first ? Request::TryOut : Request::TimeInTurns, work);
  MIRAGE_TRY(std::string answer, worker_.call(packer.take(), options.time_limit, options.deadline));
  // After a fault nothing runs on the GPU any more in that process.
  const Result<void> result = unpack_result<void>(answer);
  if (!result && result.error().code == Code::RunFailed) worker_.stop();
  return answer;
}

Result<Outcome> GpuWorker::try_out(const codegen::SourceUnit& unit, const Suite& suite,
                                   const MeasureOptions& options) {
  const codegen::SourceUnit* const only = &unit;
  MIRAGE_TRY(const std::string answer, call({&only, 1}, true, suite, options));
  return unpack_result<Outcome>(answer);
}

Result<std::vector<Timing>> GpuWorker::time_in_turns(
    std::span<const codegen::SourceUnit* const> units, const Suite& suite,
    const MeasureOptions& options) {
  MIRAGE_TRY(const std::string answer, call(units, false, suite, options));
  return unpack_result<std::vector<Timing>>(answer);
}

int serve_gpu_worker() {
  Server server;
  return runtime::serve(runtime::kWorkerDescriptor, kIdle,
                        [&](std::string_view request) { return server.answer(request); });
}

}  // namespace mirage::tune
