#pragma once
// NumPy array files (.npy, formats 1.0 and 2.0), the types that NumPy has.

#include <string>

#include "tune/host_tensor.h"
#include "util/result.h"

namespace mirage::cli {

/// Into the tensor's memory, converted to its type (rounded between float types). Io if the file
/// cannot be read; BadInput for a file that is not one, another shape, or a kind of number that
/// does not convert without loss of meaning (integers and floats are not mixed).
Result<void> read_npy(const std::string& path, const std::string& input, tune::HostTensor& tensor);

/// Row-major; bf16 and f8 values are written as f4, which holds them exactly.
Result<void> write_npy(const std::string& path, const tune::HostTensor& tensor);

}  // namespace mirage::cli
