#include "runtime/executable.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace mirage::runtime {
namespace {

Result<void> check_one(const char* what, size_t index, const codegen::Argument& expected,
                       const TensorView& view) {
  const std::string label = expected.name.empty() ? fmt::format("{} {}", what, index)
                                                  : fmt::format("{} {}", what, expected.name);
  if (view.dtype != expected.dtype)
    return bad_input("{}: expected {} elements, found {}", label, ir::name_of(expected.dtype),
                     ir::name_of(view.dtype));
  if (view.shape != expected.shape)
    return bad_input("{}: expected shape [{}], found [{}]", label, fmt::join(expected.shape, ","),
                     fmt::join(view.shape, ","));
  bool fits = view.strides.size() == expected.strides.size(), is_empty = false;
  for (size_t i = 0; fits && i < view.shape.size(); ++i) {
    fits = view.shape[i] < 2 || view.strides[i] == expected.strides[i];
    is_empty |= view.shape[i] == 0;
  }
  if (!fits)
    return bad_input("{}: expected strides [{}], found [{}]", label,
                     fmt::join(expected.strides, ","), fmt::join(view.strides, ","));
  if (!view.data && !is_empty) return bad_input("{}: no memory", label);
  return {};
}

}  // namespace

Reach reach_of(std::span<const int64_t> shape, std::span<const int64_t> strides) {
  Reach reach;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    (strides[axis] < 0 ? reach.low : reach.high) +=
        std::max<int64_t>(shape[axis] - 1, 0) * strides[axis];
  return reach;
}

Result<void> check_arguments(const codegen::SourceUnit& unit, std::span<const TensorView> inputs,
                             std::span<const TensorView> outputs) {
  if (inputs.size() != unit.inputs.size() || outputs.size() != unit.outputs.size())
    return bad_input("expected {} inputs and {} outputs, found {} and {}", unit.inputs.size(),
                     unit.outputs.size(), inputs.size(), outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    MIRAGE_TRY_VOID(check_one("input", i, unit.inputs[i], inputs[i]));
  for (size_t i = 0; i < outputs.size(); ++i)
    MIRAGE_TRY_VOID(check_one("output", i, unit.outputs[i], outputs[i]));
  return {};
}

}  // namespace mirage::runtime
