#include "ir/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace mirage::ir {

std::string_view name_of(Role role) {
  constexpr std::array kNames = {"grid", "loop", "cluster", "warp"};
  return kNames[static_cast<size_t>(role)];
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

Strides row_major_strides(const Shape& shape) {
  Strides strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(shape[i], 1);
  return strides;
}

int64_t tile_extent(int64_t extent, const std::vector<uint8_t>& axes, const Launch& launch) {
  for (uint8_t axis : axes) {
    const int64_t trips = launch.axes[axis].trips;
    extent = (extent + trips - 1) / trips;
  }
  return extent;
}

Phase phase_of(const Op& op, const Launch& launch, const std::vector<Phase>& phases) {
  if (op.kind == OpKind::Accum || op.kind == OpKind::AccumRescale) return Phase::AfterLoop;
  if (def(op.kind).form == Form::Accum) return Phase::InLoop;  // running pairs are read inside
  Phase phase = Phase::Invariant;
  for (ValueId operand : op.operands) phase = std::max(phase, phases[operand.index]);
  for (const auto& axes : op.attrs.bind)
    for (uint8_t axis : axes)
      if (launch.axes[axis].role == Role::Loop) phase = Phase::InLoop;
  return phase;
}

std::vector<Phase> phases_of(const Graph& block) {
  std::vector<Phase> phases(block.values.size(), Phase::Invariant);
  for (const Op& op : block.ops) {
    const Phase phase = phase_of(op, block.launch, phases);
    for (ValueId result : op.results) phases[result.index] = phase;
  }
  return phases;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }
std::string to_string(const TensorType& type) {
  return fmt::format("{}{}", name_of(type.dtype), to_string(type.shape));
}

}  // namespace mirage::ir
