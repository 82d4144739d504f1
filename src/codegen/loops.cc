#include "codegen/loops.h"

#include <algorithm>

namespace mirage::codegen {
namespace {

using lower::Length;

/// Axes of more than one element, neighbours that every operand walks in one run merged. `keep`
/// stays alone and is not dropped; its place in the result is returned.
std::vector<LoopAxis> merged_axes(const std::vector<Length>& lengths,
                                  const std::vector<const ir::Strides*>& operands,
                                  std::optional<size_t> keep, size_t* kept_at) {
  std::vector<LoopAxis> axes;
  bool can_merge = false;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const bool is_kept = keep && *keep == i;
    if (lengths[i] == Length{} && !is_kept) continue;
    LoopAxis axis{lengths[i], {}};
    for (const ir::Strides* strides : operands) axis.strides.push_back((*strides)[i]);
    if (is_kept) *kept_at = axes.size();
    bool merges = can_merge && !is_kept && axis.length.ragged < 0 && axis.length.max > 0;
    for (size_t j = 0; merges && j < operands.size(); ++j)
      merges = axes.back().strides[j] == axis.strides[j] * axis.length.max;
    if (merges) {  // the outer axis may be ragged only if it would stay a multiple: it does not
      axes.back().length.max *= axis.length.max;
      axes.back().strides = std::move(axis.strides);
    } else {
      axes.push_back(std::move(axis));
    }
    can_merge = !is_kept && axes.back().length.ragged < 0;
  }
  return axes;
}

/// How well vectors run along an axis: runs of the result count twice.
int64_t score(const LoopAxis& axis) {
  int64_t total = 0;
  for (size_t i = 0; i < axis.strides.size(); ++i) {
    const int64_t weight = i == 0 ? 2 : 1;
    if (axis.strides[i] == 1) total += 4 * weight;
    if (axis.strides[i] > 1 || axis.strides[i] < 0) total -= 4 * weight;
  }
  return total;
}

LoopAxis nothing(size_t operands) { return {Length{}, std::vector<int64_t>(operands, 0)}; }

/// Takes the axis with the most elements out of the list, or gives an axis of one element.
LoopAxis take_largest(std::vector<LoopAxis>& axes, size_t operands) {
  if (axes.empty()) return nothing(operands);
  const auto at = std::max_element(axes.begin(), axes.end(), [](const auto& a, const auto& b) {
    return a.length.max < b.length.max;
  });
  LoopAxis axis = std::move(*at);
  axes.erase(at);
  return axis;
}

}  // namespace

LoopNest elementwise_nest(const std::vector<Length>& lengths,
                          const std::vector<const ir::Strides*>& operands) {
  std::vector<LoopAxis> axes = merged_axes(lengths, operands, std::nullopt, nullptr);
  LoopNest nest;
  if (axes.empty()) {
    nest.row = nest.col = nothing(operands.size());
    return nest;
  }
  size_t best = axes.size() - 1;
  for (size_t i = 0; i < axes.size(); ++i)
    if (score(axes[i]) > score(axes[best])) best = i;
  nest.col = std::move(axes[best]);
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(best));
  nest.row = take_largest(axes, operands.size());
  nest.outer = std::move(axes);
  return nest;
}

ReduceNest reduce_nest(const std::vector<Length>& lengths, size_t axis,
                       const std::vector<const ir::Strides*>& operands) {
  size_t at = 0;
  std::vector<LoopAxis> axes = merged_axes(lengths, operands, axis, &at);
  ReduceNest nest;
  nest.reduced = std::move(axes[at]);
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(at));
  const auto inputs_score = [](const LoopAxis& a) {
    return score(a) - (a.strides[0] == 1 ? 8 : a.strides[0] == 0 ? 0 : -8);
  };
  size_t best = axes.size();
  for (size_t i = 0; i < axes.size(); ++i)
    if (inputs_score(axes[i]) > inputs_score(nest.reduced) &&
        (best == axes.size() || inputs_score(axes[i]) > inputs_score(axes[best])))
      best = i;
  nest.along_cols = best == axes.size();
  if (nest.along_cols) {
    nest.kept = take_largest(axes, operands.size());
  } else {
    nest.kept = std::move(axes[best]);
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(best));
  }
  nest.outer = std::move(axes);
  return nest;
}

}  // namespace mirage::codegen
