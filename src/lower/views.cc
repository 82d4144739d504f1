#include "lower/views.h"

namespace mirage::lower {

std::optional<ir::Strides> reshaped_strides(const ir::Shape& shape, const ir::Strides& strides,
                                            const ir::Shape& to) {
  ir::Strides result(to.size(), 0);
  if (ir::element_count(to) == 0) return ir::row_major_strides(to);
  // Groups of axes with equal products correspond; inside a group the old axes must be one run.
  size_t i = 0, j = 0;
  while (i < shape.size() || j < to.size()) {
    int64_t old_count = i < shape.size() ? shape[i] : 1, new_count = j < to.size() ? to[j] : 1;
    const size_t i0 = i, j0 = j;
    if (i < shape.size()) ++i;
    if (j < to.size()) ++j;
    while (old_count != new_count) {
      if (old_count < new_count) {
        old_count *= shape[i++];
      } else {
        new_count *= to[j++];
      }
    }
    int64_t stride = 0, reach = 0;  // stride of the run's last axis; what the next axis must have
    bool is_first = true;
    for (size_t axis = i; axis-- > i0;) {
      if (shape[axis] == 1) continue;
      if (is_first) {
        stride = strides[axis];
      } else if (strides[axis] != reach) {
        return std::nullopt;
      }
      reach = strides[axis] * shape[axis];
      is_first = false;
    }
    for (size_t axis = j; axis-- > j0;) {
      result[axis] = to[axis] == 1 ? 0 : stride;
      stride *= to[axis];
    }
  }
  return result;
}

}  // namespace mirage::lower
