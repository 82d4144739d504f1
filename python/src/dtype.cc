// Element types, and the many ways in which Python programs name them.

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <array>

#include "errors.h"
#include "graph.h"

namespace nb = nanobind;

namespace mirage::python {
namespace {

/// Names of NumPy, PyTorch and of the published interface.
constexpr std::array<std::pair<std::string_view, ir::DType>, 19> kAliases = {{
    {"float64", ir::DType::F64},
    {"double", ir::DType::F64},
    {"float32", ir::DType::F32},
    {"bfloat16", ir::DType::BF16},
    {"float16", ir::DType::F16},
    {"half", ir::DType::F16},
    {"float8", ir::DType::F8E4M3},
    {"float8_e4m3", ir::DType::F8E4M3},
    {"float8_e4m3fn", ir::DType::F8E4M3},
    {"float8_e5m2", ir::DType::F8E5M2},
    {"int64", ir::DType::I64},
    {"int32", ir::DType::I32},
    {"int16", ir::DType::I16},
    {"int8", ir::DType::I8},
    {"uint64", ir::DType::U64},
    {"uint32", ir::DType::U32},
    {"uint16", ir::DType::U16},
    {"uint8", ir::DType::U8},
    {"bool_", ir::DType::Bool},
}};

}  // namespace

ir::DType dtype_of(nb::handle object) {
  if (nb::isinstance<ir::DType>(object)) return nb::cast<ir::DType>(object);
  std::string name;
  if (nb::isinstance<nb::str>(object))
    name = utf8_of(object, "dtype");
  else if (nb::hasattr(object, "name") && nb::isinstance<nb::str>(object.attr("name")))
    name = nb::cast<std::string>(object.attr("name"));  // numpy.dtype
  else if (nb::hasattr(object, "__name__"))
    name = nb::cast<std::string>(object.attr("__name__"));  // numpy.float16
  else
    name = nb::cast<std::string>(nb::str(object));
  std::string_view bare = name;
  if (bare.starts_with("torch.")) bare.remove_prefix(6);
  if (const auto dtype = ir::dtype_named(bare)) return *dtype;
  for (const auto& [alias, dtype] : kAliases)
    if (alias == bare) return dtype;
  refuse("unknown dtype {}: expected a name such as f16, bf16, f32, f64 or i32", name);
}

void bind_dtypes(nb::module_& module) {
  nb::enum_<ir::DType> dtype(module, "DType", "The type of a tensor's elements.");
#define DTYPE(id, name, bits, kind) dtype.value(name, ir::DType::id);
#include "ir/dtype.def"
#undef DTYPE
  dtype.def_prop_ro(
      "itemsize", [](ir::DType self) { return ir::bytes_of(self); }, "Bytes of an element.");
  module.def(
      "dtype", [](nb::handle object) { return dtype_of(object); }, nb::arg("object"),
      nb::sig("def dtype(object: object) -> DType"),
      "The element type of this name (\"f16\", \"float16\") or of a NumPy or PyTorch type.");
}

}  // namespace mirage::python
