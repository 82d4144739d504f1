#pragma once
// Moves that need no copy: strides of a reshaped tensor, if there are any.

#include <optional>

#include "ir/graph.h"

namespace mirage::lower {

/// Strides with which a tensor of `shape` and `strides` reads as `to` in row-major order, or
/// nothing if it must be copied.
std::optional<ir::Strides> reshaped_strides(const ir::Shape& shape, const ir::Strides& strides,
                                            const ir::Shape& to);

}  // namespace mirage::lower
