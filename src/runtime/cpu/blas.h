#pragma once
// A vendor's matrix product, if the machine has one: OpenBLAS by dlopen, no link-time dependency.

#include <string>

namespace mirage::runtime {

/// A function of libopenblas, or null. The library is told to use the calling thread alone: kernels
/// spread their work themselves.
void* blas_function(const std::string& name);

}  // namespace mirage::runtime
