#pragma once
// What the GPU is, asked by a child process unless this one has used the driver before: one that
// has can no longer fork children that use it.

#include <string>

#include "util/result.h"

namespace mirage::runtime::cuda {

struct GpuInfo {
  std::string name;
  int architecture = 0;  // 90 for 9.0
  int multiprocessors = 0;
};

/// Unsupported where there is no driver or no device.
Result<GpuInfo> look_at_gpu();

}  // namespace mirage::runtime::cuda
