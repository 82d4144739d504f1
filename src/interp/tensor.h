#pragma once
// A dense row-major tensor over any element type.

#include <utility>
#include <vector>

#include "ir/graph.h"

namespace mirage::interp {

template <class V>
struct Tensor {
  ir::Shape shape;
  std::vector<V> data;  // row-major, element_count(shape) values

  Tensor() = default;
  explicit Tensor(ir::Shape extents)
      : shape(std::move(extents)), data(static_cast<size_t>(ir::element_count(shape))) {}
  Tensor(ir::Shape extents, std::vector<V> values)
      : shape(std::move(extents)), data(std::move(values)) {}

  size_t size() const { return data.size(); }
};

using TensorF64 = Tensor<double>;

}  // namespace mirage::interp
