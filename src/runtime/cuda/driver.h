#pragma once
// The part of the CUDA driver's interface that is used, loaded when it is first needed: a machine
// without a GPU has no such library. Names, types and numbers are the driver's.

#include <cstddef>
#include <cstdint>

#include "util/result.h"

namespace mirage::runtime::cuda {

using Device = int;
using DevicePtr = uint64_t;
struct ContextTag;
struct ModuleTag;
struct FunctionTag;
struct StreamTag;
struct EventTag;
struct GraphTag;
struct GraphExecTag;
using Context = ContextTag*;
using Module = ModuleTag*;
using Function = FunctionTag*;
using Stream = StreamTag*;
using Event = EventTag*;
using Graph = GraphTag*;
using GraphExec = GraphExecTag*;

// X(name in the driver, member, parameters)
#define MIRAGE_CUDA_FUNCTIONS(X)                                                             \
  X(cuInit, init, (unsigned))                                                                \
  X(cuDeviceGet, device_get, (Device*, int))                                                 \
  X(cuDeviceGetName, device_name, (char*, int, Device))                                      \
  X(cuDeviceGetAttribute, device_attribute, (int*, int, Device))                             \
  X(cuDevicePrimaryCtxRetain, context_retain, (Context*, Device))                            \
  X(cuCtxSetCurrent, context_set, (Context))                                                 \
  X(cuModuleLoadData, module_load, (Module*, const void*))                                   \
  X(cuModuleUnload, module_unload, (Module))                                                 \
  X(cuModuleGetFunction, module_function, (Function*, Module, const char*))                  \
  X(cuFuncSetAttribute, function_set, (Function, int, int))                                  \
  X(cuLaunchKernel, launch,                                                                  \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, \
     void**, void**))                                                                        \
  X(cuTensorMapEncodeTiled, tensor_map,                                                      \
    (void*, int, uint32_t, DevicePtr, const uint64_t*, const uint64_t*, const uint32_t*,     \
     const uint32_t*, int, int, int, int))                                                   \
  X(cuMemAlloc_v2, alloc, (DevicePtr*, size_t))                                              \
  X(cuMemFree_v2, free, (DevicePtr))                                                         \
  X(cuMemcpyHtoD_v2, to_device, (DevicePtr, const void*, size_t))                            \
  X(cuMemcpyDtoH_v2, to_host, (void*, DevicePtr, size_t))                                    \
  X(cuStreamCreate, stream_create, (Stream*, unsigned))                                      \
  X(cuStreamDestroy_v2, stream_destroy, (Stream))                                            \
  X(cuStreamSynchronize, stream_synchronize, (Stream))                                       \
  X(cuStreamBeginCapture_v2, capture_begin, (Stream, int))                                   \
  X(cuStreamEndCapture, capture_end, (Stream, Graph*))                                       \
  X(cuGraphInstantiateWithFlags, graph_instantiate, (GraphExec*, Graph, unsigned long long)) \
  X(cuGraphLaunch, graph_launch, (GraphExec, Stream))                                        \
  X(cuGraphExecDestroy, graph_exec_destroy, (GraphExec))                                     \
  X(cuGraphDestroy, graph_destroy, (Graph))                                                  \
  X(cuEventCreate, event_create, (Event*, unsigned))                                         \
  X(cuEventDestroy_v2, event_destroy, (Event))                                               \
  X(cuEventRecord, event_record, (Event, Stream))                                            \
  X(cuEventSynchronize, event_synchronize, (Event))                                          \
  X(cuEventElapsedTime, event_elapsed, (float*, Event, Event))                               \
  X(cuGetErrorName, error_name, (int, const char**))                                         \
  X(cuGetErrorString, error_text, (int, const char**))

struct Driver {
#define MIRAGE_CUDA_MEMBER(name, member, parameters) int(*member) parameters;
  MIRAGE_CUDA_FUNCTIONS(MIRAGE_CUDA_MEMBER)
#undef MIRAGE_CUDA_MEMBER

  /// RunFailed names the error; `what` starts the message.
  Result<void> check(int status, std::string_view what) const;
};

// Attributes of devices and functions.
inline constexpr int kMultiprocessors = 16, kL2Bytes = 38, kMajor = 75, kMinor = 76;
inline constexpr int kFunctionMaxDynamicShared = 8;

/// What this process computes on: device 0 and its primary context, which other libraries share.
struct Gpu {
  const Driver* driver = nullptr;
  Device device = 0;
  Context context = nullptr;
  std::string name{};
  int multiprocessors = 0;
  int architecture = 0;  // 90 for 9.0
  int64_t l2_bytes = 0;
};

/// Whether this process has used the driver, by whatever code: its children cannot then.
bool is_driver_in_use();

/// Unsupported where there is no driver or no device. Made once; makes the context current in the
/// calling thread every time.
Result<const Gpu*> gpu();

}  // namespace mirage::runtime::cuda
