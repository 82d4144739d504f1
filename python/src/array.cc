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

/// An argument as messages name it.
struct Label {
  const char* what;
  size_t index;
  const codegen::Argument& expected;

  std::string text() const {
    return fmt::format("{} {}{}", what, index,
                       expected.name.empty() ? "" : fmt::format(" (%{})", expected.name));
  }
};

/// What every protocol tells of an array. Strides may be missing: row-major.
struct Seen {
  void* data;
  int32_t device;
  nb::dlpack::dtype dtype;
  size_t rank;
  const int64_t* shape;
  const int64_t* strides;
};

Seen seen(const nb::dlpack::dltensor& tensor) {
  return {static_cast<std::byte*>(tensor.data) + tensor.byte_offset,
          tensor.device.device_type,
          tensor.dtype,
          static_cast<size_t>(tensor.ndim),
          tensor.shape,
          tensor.strides};
}

template <class NdArray>
Seen seen(const NdArray& array) {
  // const_cast: what is seen of an input is only read.
  return {const_cast<void*>(static_cast<const void*>(array.data())),
          array.device_type(),
          array.dtype(),
          array.ndim(),
          array.shape_ptr(),
          array.stride_ptr()};
}

runtime::TensorView view_of(const Seen& array, const Label& label) {
  const codegen::Argument& expected = label.expected;
  if (array.device != nb::device::cpu::value)
    refuse("{}: expected memory of the CPU, found DLPack device type {}", label.text(),
           array.device);
  Ints shape(array.shape, array.shape + array.rank);
  if (shape != expected.shape)
    refuse("{}: expected shape {}, found {}", label.text(), tuple_text(expected.shape),
           tuple_text(shape));
  const auto dtype = dtype_in_dlpack(array.dtype);
  if (!dtype || !holds_bits_of(expected.dtype, *dtype))
    refuse("{}: expected dtype {}, found {}", label.text(), name_of(expected.dtype),
           dtype ? std::string(name_of(*dtype))
                 : fmt::format("DLPack code {} of {} bits", array.dtype.code, array.dtype.bits));
  const Ints strides = array.strides ? Ints(array.strides, array.strides + array.rank)
                                     : Ints(ir::row_major_strides(shape));
  if (!same_layout(shape, expected.strides, strides))
    refuse("{}: expected strides {}, found {} (in elements)", label.text(),
           tuple_text(expected.strides), tuple_text(strides));
  if (reinterpret_cast<uintptr_t>(array.data) %
          static_cast<uintptr_t>(ir::bytes_of(expected.dtype)) !=
      0)
    refuse("{}: elements are not aligned", label.text());
  return {array.data, expected.dtype, std::move(shape), expected.strides};
}

/// First and one past the last byte that a view may touch.
std::pair<uintptr_t, uintptr_t> extent_of(const runtime::TensorView& view) {
  if (ir::element_count(view.shape) == 0) return {0, 0};
  const auto [low, high] = runtime::reach_of(view.shape, view.strides);
  const int64_t bytes = ir::bytes_of(view.dtype);
  const auto base = reinterpret_cast<intptr_t>(view.data);
  return {static_cast<uintptr_t>(base + low * bytes),
          static_cast<uintptr_t>(base + (high + 1) * bytes)};
}

/// PyTorch may leave a negation to whoever reads the tensor; DLPack has no word for that.
bool has_pending_negation(nb::handle object) {
  return nb::hasattr(object.type(), "is_neg") && nb::cast<bool>(object.attr("is_neg")());
}

Array array_of(nb::handle object, bool is_written, const Label& label) {
  if (has_pending_negation(object))
    refuse("{}: the tensor's negation is pending (is_neg): pass resolve_neg() of it", label.text());
  Array result;
  result.exchanged = exchange(object);
  if (result.exchanged && !(is_written && result.exchanged->flags & ManagedTensor::kReadOnly)) {
    result.view = view_of(seen(result.exchanged->tensor), label);
    return result;
  }
  const auto reads = [&](nb::handle source) {
    return is_written ? nb::try_cast(source, result.written, false)
                      : nb::try_cast(source, result.read, false);
  };
  if (reads(object) || reads(plain(object))) {
    result.view = view_of(is_written ? seen(result.written) : seen(result.read), label);
    return result;
  }
  refuse("{}: expected {} (DLPack or the buffer protocol), found {}", label.text(),
         is_written ? "a writable array" : "an array",
         nb::cast<std::string>(object.type().attr("__name__")));
}

}  // namespace

std::vector<Array> arrays_of(nb::sequence objects, const std::vector<codegen::Argument>& expected,
                             bool is_written, const char* what) {
  const size_t count = nb::len(objects);
  if (count != expected.size())
    refuse("expected {} {}{}, found {}", expected.size(), what, expected.size() == 1 ? "" : "s",
           count);
  std::vector<Array> arrays;
  arrays.reserve(count);
  for (size_t i = 0; i < count; ++i)
    arrays.push_back(array_of(objects[i], is_written, Label{what, i, expected[i]}));
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
