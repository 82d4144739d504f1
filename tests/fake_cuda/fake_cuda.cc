// A CUDA driver for tests on machines without a GPU: memory of the device is memory of the process,
// and kernels are known by their names. Like the real one it does not work in a process forked from
// one that has used it.
//
//   ...mul...   b1[i] = 2 b0[i] for 64 floats, where b0 and b1 are the kernel's parameters
//   fault       an illegal address, after which every call fails
//   hang        the stream never becomes idle
//   crash       the process does not survive it
//   others      nothing
//
// It is a run-time compiler too, which takes any text ($MIRAGE_NVRTC).
//
// $FAKE_CUDA_LOG names a file that gets a line for each call that a test may count.

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kFine = 0, kInvalid = 1, kNotInitialized = 3, kIllegalAddress = 700;
constexpr size_t kElements = 64;

using Clock = std::chrono::steady_clock;

struct Kernel {
  std::string name;
};
struct Stream {
  std::vector<std::function<void()>>* captured = nullptr;
};
struct Graph {
  std::vector<std::function<void()>> calls;
};
struct Event {
  Clock::time_point time;
};

struct Device {
  pid_t owner = 0;  // who called cuInit
  bool is_faulty = false, hangs = false;
  void* context = nullptr;  // the current one
};
Device device;  // NOLINT: this is the hardware

void log(const std::string& line) {
  const char* const path = std::getenv("FAKE_CUDA_LOG");
  if (path == nullptr) return;
  std::FILE* const file = std::fopen(path, "a");
  if (file == nullptr) return;
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
}

int state() {
  if (device.owner != getpid()) return kNotInitialized;
  return device.is_faulty ? kIllegalAddress : kFine;
}

void run(const std::string& kernel, const float* in, float* out) {
  if (kernel == "crash") std::abort();
  if (kernel == "hang") device.hangs = true;
  if (kernel == "fault") device.is_faulty = true;
  if (kernel.find("mul") == std::string::npos) return;
  for (size_t i = 0; i < kElements; ++i) out[i] = 2 * in[i];
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  if (device.owner == 0) device.owner = getpid();
  return state();
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return state();
}
int cuDeviceGet(int* ordinal, int) {
  *ordinal = 0;
  return state();
}
int cuDeviceGetName(char* name, int length, int) {
  std::snprintf(name, static_cast<size_t>(length), "fake GPU");
  return state();
}
int cuDeviceGetAttribute(int* value, int which, int) {
  const std::map<int, int> values = {{16, 4}, {38, 4096}, {75, 9}, {76, 0}};
  const auto found = values.find(which);
  *value = found == values.end() ? 0 : found->second;
  return state();
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  static int primary;
  *context = &primary;
  return state();
}
int cuCtxSetCurrent(void* context) {
  device.context = context;
  return state();
}
int cuCtxGetCurrent(void** context) {
  *context = device.context;
  return state();
}
int cuModuleLoadData(void** module, const void*) {
  log("load");
  *module = new int;
  return state();
}
int cuModuleUnload(void* module) {
  delete static_cast<int*>(module);
  return state();
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  *function = new Kernel{name};
  return state();
}
int cuFuncSetAttribute(void*, int, int) { return state(); }
int cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, void* stream, void** parameters, void**) {
  const std::string name = static_cast<Kernel*>(function)->name;
  log("launch " + name + (stream == nullptr ? "" : " on a stream"));
  const auto* const in = *static_cast<const float* const*>(parameters[0]);
  auto* const out = *static_cast<float* const*>(parameters[1]);
  auto call = [=] { run(name, in, out); };
  // Streams of others are numbers here.
  auto* const own =
      reinterpret_cast<uintptr_t>(stream) < 4096 ? nullptr : static_cast<Stream*>(stream);
  if (own != nullptr && own->captured != nullptr)
    own->captured->push_back(call);
  else
    call();
  return state() == kIllegalAddress ? kFine : state();  // faults are seen later
}
int cuTensorMapEncodeTiled(void* map, int, uint32_t, uint64_t, const uint64_t*, const uint64_t*,
                           const uint32_t*, const uint32_t*, int, int, int, int) {
  log("tensor map");
  std::memset(map, 0, 128);
  return state();
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  log("allocate");
  *address = reinterpret_cast<uint64_t>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return state();
}
int cuMemFree_v2(uint64_t address) {
  std::free(reinterpret_cast<void*>(address));
  return state();
}
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  log("copy");
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return state();
}
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  log("copy");
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return state();
}
int cuStreamCreate(void** stream, unsigned) {
  *stream = new Stream;
  return state();
}
int cuStreamDestroy_v2(void* stream) {
  delete static_cast<Stream*>(stream);
  return state();
}
int cuStreamSynchronize(void*) {
  while (device.hangs) std::this_thread::sleep_for(std::chrono::seconds(1));
  return state();
}
int cuStreamWaitEvent(void*, void*, unsigned) {
  log("wait");
  return state();
}
int cuThreadExchangeStreamCaptureMode(int*) { return state(); }
int cuStreamBeginCapture_v2(void* stream, int) {
  static_cast<Stream*>(stream)->captured = new std::vector<std::function<void()>>;
  return state();
}
int cuStreamEndCapture(void* stream, void** graph) {
  auto*& captured = static_cast<Stream*>(stream)->captured;
  if (captured == nullptr) return kInvalid;
  *graph = new Graph{std::move(*captured)};
  delete captured;
  captured = nullptr;
  return state();
}
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  *executable = new Graph(*static_cast<Graph*>(graph));
  return state();
}
int cuGraphLaunch(void* executable, void*) {
  for (const auto& call : static_cast<Graph*>(executable)->calls) call();
  return state();
}
int cuGraphExecDestroy(void* executable) {
  delete static_cast<Graph*>(executable);
  return state();
}
int cuGraphDestroy(void* graph) { return cuGraphExecDestroy(graph); }
int cuEventCreate(void** event, unsigned) {
  *event = new Event;
  return state();
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return state();
}
int cuEventRecord(void* event, void*) {
  static_cast<Event*>(event)->time = Clock::now();
  return state();
}
int cuEventSynchronize(void*) { return cuStreamSynchronize(nullptr); }
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  const std::chrono::duration<float, std::milli> time =
      static_cast<Event*>(end)->time - static_cast<Event*>(begin)->time;
  *milliseconds = time.count();
  return state();
}
int cuGetErrorName(int status, const char** name) {
  *name = status == kIllegalAddress   ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : status == kNotInitialized ? "CUDA_ERROR_NOT_INITIALIZED"
                                      : "CUDA_ERROR_INVALID_VALUE";
  return kFine;
}
int cuGetErrorString(int, const char** text) {
  *text = "as the test wants it";
  return kFine;
}

int nvrtcVersion(int* major, int* minor) {
  *major = 99;
  *minor = 0;
  return kFine;
}
int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*,
                       const char* const*) {
  static int only;
  *program = &only;
  return kFine;
}
int nvrtcCompileProgram(void*, int, const char* const*) { return kFine; }
int nvrtcGetProgramLogSize(void*, size_t* size) {
  *size = 1;
  return kFine;
}
int nvrtcGetProgramLog(void*, char* text) {
  *text = '\0';
  return kFine;
}
int nvrtcGetCUBINSize(void*, size_t* size) {
  *size = 4;
  return kFine;
}
int nvrtcGetCUBIN(void*, char* code) {
  std::memcpy(code, "code", 4);
  return kFine;
}
int nvrtcDestroyProgram(void**) { return kFine; }
const char* nvrtcGetErrorString(int) { return "no error"; }
}
