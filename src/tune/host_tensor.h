#pragma once
// A tensor in this process's memory: what checks and timings feed to executables. Any strides,
// negative and zero ones included.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "runtime/executable.h"
#include "util/result.h"

namespace mirage::tune {

class HostTensor {
 public:
  /// Zeroed memory, 64-byte aligned; empty strides are row-major. LimitExceeded if it cannot be
  /// had.
  static Result<HostTensor> make(ir::TensorType type, ir::Strides strides = {});

  const ir::TensorType& type() const { return type_; }
  const ir::Strides& strides() const { return strides_; }
  size_t bytes() const { return bytes_; }
  std::byte* memory() const { return memory_.get(); }

  /// Row-major copy of all elements.
  std::vector<double> to_doubles(int threads = 1) const;
  /// Sets every element, rounded to the type; `values` are row-major. Where strides make elements
  /// share memory the last one stays.
  void assign(const std::vector<double>& values, int threads = 1);
  /// Fills all memory with this byte, holes between elements included.
  void poison(unsigned char byte);

  runtime::TensorView view() const;

 private:
  /// body(number, address) for all elements in row-major order, shared between threads.
  template <class Body>
  void for_each_element(int threads, const Body& body) const;

  struct Free {
    void operator()(std::byte* memory) const;
  };
  ir::TensorType type_;
  ir::Strides strides_;
  std::unique_ptr<std::byte[], Free> memory_;
  size_t bytes_ = 0;
  int64_t origin_ = 0;  // element offset of index 0: positive where strides are negative
};

/// How many rows along its last axis a shape has.
inline int64_t row_count(const ir::Shape& shape) {
  const int64_t count = ir::element_count(shape);
  return count == 0 ? 0 : shape.empty() ? 1 : count / shape.back();
}

/// Offsets in elements of rows [first, end) of a shape in row-major order, relative to index 0.
template <class Body>
void for_each_offset(const ir::Shape& shape, const ir::Strides& strides, int64_t first, int64_t end,
                     Body&& body) {
  if (first >= end) return;
  if (shape.empty()) return body(int64_t{0});
  std::vector<int64_t> index(shape.size(), 0);
  const size_t last = shape.size() - 1;
  int64_t offset = 0, left = first;
  for (size_t axis = last; axis-- > 0;) {
    index[axis] = left % shape[axis];
    offset += index[axis] * strides[axis];
    left /= shape[axis];
  }
  for (int64_t row = first; row < end; ++row) {
    for (int64_t i = 0; i < shape[last]; ++i) body(offset + i * strides[last]);
    for (size_t axis = last; axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}
/// Those of all elements.
template <class Body>
void for_each_offset(const ir::Shape& shape, const ir::Strides& strides, Body&& body) {
  for_each_offset(shape, strides, 0, row_count(shape), std::forward<Body>(body));
}

}  // namespace mirage::tune
