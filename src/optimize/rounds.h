#pragma once
// Successive halving: who is timed again. Nobody leaves who may be as fast as the fastest.

#include <span>
#include <vector>

#include "tune/time.h"

namespace mirage::optimize {

/// Indices of `timings`, fastest first: of the `least` fastest, and of all others whose median may
/// be as low as that of the fastest, which may be higher by the part `margin` than its samples say.
std::vector<size_t> contenders(std::span<const tune::Timing> timings, size_t least, double margin);

}  // namespace mirage::optimize
