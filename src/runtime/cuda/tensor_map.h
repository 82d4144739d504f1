#pragma once
// Descriptions of tensors for the copy engine, as the driver encodes them.

#include "codegen/source_unit.h"
#include "runtime/cuda/driver.h"
#include "util/result.h"

namespace mirage::runtime::cuda {

/// What a kernel gets as parameter.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

/// RunFailed where the driver refuses, as for an address that is not a multiple of 16 bytes.
Result<void> encode(const Gpu& gpu, const codegen::TensorMap& description, DevicePtr buffer,
                    TensorMap& map);

}  // namespace mirage::runtime::cuda
