#include "array.h"

#include <fmt/ranges.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "errors.h"
#include "ir/graph.h"

namespace nb = nanobind;

namespace mirage::python {
namespace {

using Ints = std::vector<int64_t>;

std::optional<ir::DType> dtype_in_dlpack(nb::dlpack::dtype type) {
  if (type.lanes != 1) return std::nullopt;
  const auto code = static_cast<nb::dlpack::dtype_code>(type.code);
  if (code == nb::dlpack::dtype_code::Bfloat && type.bits == 16) return ir::DType::BF16;
  if (code == nb::dlpack::dtype_code::Bool && type.bits == 8) return ir::DType::Bool;
  std::string_view prefix;
  if (code == nb::dlpack::dtype_code::Float) prefix = "f";
  if (code == nb::dlpack::dtype_code::Int) prefix = "i";
  if (code == nb::dlpack::dtype_code::UInt) prefix = "u";
  if (prefix.empty()) return std::nullopt;
  return ir::dtype_named(fmt::format("{}{}", prefix, type.bits));
}

/// NumPy's extension types speak neither protocol: the same memory as unsigned integers.
nb::object plain(nb::handle object) {
  if (!nb::hasattr(object, "dtype") || !nb::hasattr(object, "view")) return nb::borrow(object);
  const nb::object dtype = object.attr("dtype");
  if (!nb::hasattr(dtype, "name") || !nb::hasattr(dtype, "itemsize")) return nb::borrow(object);
  const auto name = nb::cast<std::string>(nb::str(dtype.attr("name")));
  if (name == "bfloat16") return object.attr("view")("uint16");
  if (name.starts_with("float8_")) return object.attr("view")("uint8");
  return nb::borrow(object);
}

bool holds_bits_of(ir::DType expected, ir::DType found) {
  if (expected == found) return true;
  if (expected == ir::DType::BF16) return found == ir::DType::U16;
  if (expected == ir::DType::F8E4M3 || expected == ir::DType::F8E5M2) return found == ir::DType::U8;
  return false;
}

bool same_layout(const Ints& shape, const Ints& expected, const Ints& found) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return true;
    if (shape[i] > 1 && expected[i] != found[i]) return false;
  }
  return true;
}

std::string tuple_text(const Ints& values) {
  return fmt::format("({}{})", fmt::join(values, ", "), values.size() == 1 ? "," : "");
}

template <class NdArray>
runtime::TensorView view_of(const NdArray& array, const codegen::Argument& expected,
                            const std::string& label) {
  if (array.device_type() != nb::device::cpu::value)
    refuse("{}: expected memory of the CPU, found DLPack device type {}", label,
           array.device_type());
  Ints shape, strides;
  for (size_t i = 0; i < array.ndim(); ++i) {
    shape.push_back(static_cast<int64_t>(array.shape(i)));
    strides.push_back(array.stride(i));
  }
  if (shape != expected.shape)
    refuse("{}: expected shape {}, found {}", label, tuple_text(expected.shape), tuple_text(shape));
  const auto dtype = dtype_in_dlpack(array.dtype());
  if (!dtype || !holds_bits_of(expected.dtype, *dtype))
    refuse("{}: expected dtype {}, found {}", label, name_of(expected.dtype),
           dtype
               ? std::string(name_of(*dtype))
               : fmt::format("DLPack code {} of {} bits", array.dtype().code, array.dtype().bits));
  if (!same_layout(shape, expected.strides, strides))
    refuse("{}: expected strides {}, found {} (in elements)", label, tuple_text(expected.strides),
           tuple_text(strides));
  // const_cast: the view of an input is only read.
  void* data = const_cast<void*>(static_cast<const void*>(array.data()));
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(ir::bytes_of(expected.dtype)) != 0)
    refuse("{}: elements are not aligned", label);
  return {data, expected.dtype, std::move(shape), expected.strides};
}

/// First and one past the last byte that a view may touch.
std::pair<uintptr_t, uintptr_t> extent_of(const runtime::TensorView& view) {
  int64_t low = 0, high = 0;
  for (size_t i = 0; i < view.shape.size(); ++i) {
    if (view.shape[i] == 0) return {0, 0};
    (view.strides[i] < 0 ? low : high) += (view.shape[i] - 1) * view.strides[i];
  }
  const int64_t bytes = ir::bytes_of(view.dtype);
  const auto base = reinterpret_cast<intptr_t>(view.data);
  return {static_cast<uintptr_t>(base + low * bytes),
          static_cast<uintptr_t>(base + (high + 1) * bytes)};
}

}  // namespace

Array array_of(nb::handle object, const codegen::Argument& expected, bool is_written,
               const std::string& label) {
  Array result;
  const auto reads = [&](nb::handle source) {
    return is_written ? nb::try_cast(source, result.written, false)
                      : nb::try_cast(source, result.read, false);
  };
  if (reads(object) || reads(plain(object))) {
    result.view = is_written ? view_of(result.written, expected, label)
                             : view_of(result.read, expected, label);
    return result;
  }
  refuse("{}: expected {} (DLPack or the buffer protocol), found {}", label,
         is_written ? "a writable array" : "an array",
         nb::cast<std::string>(object.type().attr("__name__")));
}

std::vector<Array> arrays_of(nb::sequence objects, const std::vector<codegen::Argument>& expected,
                             bool is_written, const char* what) {
  const size_t count = nb::len(objects);
  if (count != expected.size())
    refuse("expected {} {}{}, found {}", expected.size(), what, expected.size() == 1 ? "" : "s",
           count);
  std::vector<Array> arrays;
  for (size_t i = 0; i < count; ++i) {
    std::string label = fmt::format("{} {}", what, i);
    if (!expected[i].name.empty()) label += fmt::format(" (%{})", expected[i].name);
    arrays.push_back(array_of(objects[i], expected[i], is_written, label));
  }
  return arrays;
}

void check_overlap(const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto [begin, end] = extent_of(outputs[i].view);
    const auto meets = [&](const Array& other) {
      const auto [from, to] = extent_of(other.view);
      return begin < to && from < end;
    };
    for (size_t j = 0; j < inputs.size(); ++j)
      if (meets(inputs[j])) refuse("output {} shares memory with input {}", i, j);
    for (size_t j = 0; j < i; ++j)
      if (meets(outputs[j])) refuse("output {} shares memory with output {}", i, j);
  }
}

std::vector<runtime::TensorView> views_of(const std::vector<Array>& arrays) {
  std::vector<runtime::TensorView> views;
  for (const Array& array : arrays) views.push_back(array.view);
  return views;
}

}  // namespace mirage::python
