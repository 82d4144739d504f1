#pragma once
// CUDA's run-time compiler, loaded when it is first needed. Neither a CUDA toolkit nor a GPU has to
// be there: the library comes from a toolkit, from the package nvidia-cuda-nvrtc of Python, or from
// $MIRAGE_NVRTC.

#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace mirage::runtime {

/// Version as in "13.0".
Result<std::string> nvrtc_version();

/// Machine code for the architecture that the options name. The headers of device/ can be included.
/// CompileFailed carries the compiler's log in its notes.
Result<std::string> compile_cubin(std::string_view text, const std::vector<std::string>& options);

}  // namespace mirage::runtime
