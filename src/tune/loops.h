#pragma once
// The plain loops that both evaluators of the check walk tensors with: broadcast operands, batched
// products, moved elements. Everything is row-major.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "ir/graph.h"
#include "util/deadline.h"
#include "util/parallel.h"

namespace mirage::tune {

constexpr size_t kLook = 1 << 16;    // elements between looks at the clock
constexpr size_t kMostOperands = 3;  // of an elementwise operator

/// Calls work(e) for the elements of a result, shared between threads; leaves early at the
/// deadline.
template <class Work>
void for_each_entry(int threads, size_t count, const Deadline& deadline, const Work& work) {
  constexpr int64_t kLeast = 1 << 14;  // elements that are worth a thread
  in_parallel(threads, static_cast<int64_t>(count), kLeast, [&](int64_t first, int64_t last) {
    for (auto e = static_cast<size_t>(first); e < static_cast<size_t>(last); ++e) {
      if (e % kLook == 0 && deadline.is_over()) return;
      work(e);
    }
  });
}

/// Offsets of an operand for every element of a result that it is broadcast to; empty if the shapes
/// are the same.
std::vector<int64_t> broadcast_offsets(const ir::Shape& operand, const ir::Shape& result);

/// The batched product of two shapes. Its rows count through all batches.
class Product {
 public:
  Product(const ir::Shape& a, const ir::Shape& b, const ir::Shape& out);

  /// Rows [first_row, last_row) of columns [first_column, last_column) of the result.
  struct Part {
    int64_t first_row, last_row, first_column, last_column;
  };

  int64_t terms() const { return k_; }

  /// out += a b in a part; leaves early at the deadline.
  void add(const std::vector<double>& a, const std::vector<double>& b, std::vector<double>& out,
           const Part& part, const Deadline& deadline) const;

  /// Calls work(part) for parts that make up the result, shared between threads.
  void on_threads(int threads, const std::function<void(const Part&)>& work) const;

 private:
  int64_t rows() const { return static_cast<int64_t>(batch_a_.size()) * m_; }

  int64_t m_, n_, k_;
  std::vector<int64_t> batch_a_, batch_b_;
};

/// Where the elements of one operand of a Move operator go: element from[i] of the operand becomes
/// element to[i] of the result; an empty vector counts 0, 1, 2, ...
struct Moved {
  std::vector<int64_t> from, to;

  /// `operand` and `result` are numbers of elements; the smaller one are moved.
  template <class Copy>
  void for_each(size_t operand, size_t result, Copy&& copy) const {
    for (size_t i = 0; i < std::min(operand, result); ++i)
      copy(from.empty() ? i : static_cast<size_t>(from[i]),
           to.empty() ? i : static_cast<size_t>(to[i]));
  }
};
/// One an operand.
std::vector<Moved> moves_of(const ir::Op& op, const std::vector<ir::Shape>& operands,
                            const ir::Shape& result);

/// Element e of a reduction over an axis of this shape sums `start(e) + i * inner`, i < n.
struct ReducedAxis {
  int64_t n = 1, inner = 1;
  ReducedAxis(const ir::Shape& shape, int64_t axis);
  int64_t start(int64_t e) const { return e / inner * n * inner + e % inner; }
};

}  // namespace mirage::tune
