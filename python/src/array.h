#pragma once
// Arrays of other libraries as memory that programs read and write: DLPack or the buffer protocol,
// never a copy.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <vector>

#include "codegen/source_unit.h"
#include "exchange.h"
#include "runtime/executable.h"

namespace mirage::python {

/// An array seen as memory; one of the handles keeps it alive.
struct Array {
  Exchanged exchanged;
  nanobind::ndarray<nanobind::ro> read;
  nanobind::ndarray<> written;
  runtime::TensorView view;
};

/// One array for each argument. Refuses another shape, element type or layout (strides of axes with
/// fewer than two elements do not count), memory of a device, and where `is_written` what is
/// read-only. Bit patterns (u16 for bf16, u8 for f8) are accepted, for NumPy has no such types.
/// `what` names the arguments in messages.
std::vector<Array> arrays_of(nanobind::sequence objects,
                             const std::vector<codegen::Argument>& expected, bool is_written,
                             const char* what);
/// Outputs must not overlap anything else.
void check_overlap(const std::vector<Array>& inputs, const std::vector<Array>& outputs);

std::vector<runtime::TensorView> views_of(const std::vector<Array>& arrays);

}  // namespace mirage::python
