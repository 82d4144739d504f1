#pragma once
// One element of a tensor in memory as a double and back: how host code of every layer reads and
// writes storage types. Not for inner loops over whole programs; codegen has vector forms.

#include "ir/dtype.h"

namespace mirage::ir {

/// Exact for floats; 64-bit integers round to the nearest double.
double load_element(DType dtype, const void* address);

/// Rounds to nearest even; floats overflow to infinity (f8e4m3: to NaN, it has no infinity),
/// integers truncate towards zero and saturate, NaN becomes 0 there, bool is x != 0.
void store_element(DType dtype, void* address, double value);

/// value after a round trip through the type.
double round_to(DType dtype, double value);

/// Half the distance from 1 to the next value: the relative error of one rounding (floats), else 0.
double unit_roundoff(DType dtype);
/// The largest finite value.
double max_finite(DType dtype);
/// The smallest positive value, subnormals included (floats), else 1.
double min_positive(DType dtype);

}  // namespace mirage::ir
