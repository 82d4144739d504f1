#pragma once
// Cutting thread graphs: which values of a block are computed where they are used, in registers,
// and the graphs that result. The same cut serves every back end.

#include <functional>
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"
#include "util/result.h"

namespace mirage::lower {

/// By ValueId: true for a value that no memory holds, because its one user computes it on the way.
/// These are Map results of the user's shape and phase, and constants; and a reduction or product
/// that an accumulator adds up.
struct Fusion {
  std::vector<bool> is_inlined;
  std::vector<bool> is_accumulated;  // Reduce or MatMul results
  std::vector<uint32_t> uses;
  std::vector<ir::OpId> user;  // the last one
};

Fusion find_fusion(const ir::Graph& block);

/// By OpId: whether a store of the block depends on it.
std::vector<bool> live_operators(const ir::Graph& block);

/// Builds a thread graph from the roots back to values in memory.
class ThreadGraph {
 public:
  ThreadGraph(const ir::Graph& block, const Fusion& fusion, ir::DType compute,
              std::function<std::optional<double>(const ir::Op&)> extent);

  /// The value in the thread graph; `force` expands it even if memory could hold it.
  Result<ir::ValueId> value(ir::ValueId id, bool force = false);
  /// An input that stands for no value of the block, such as the state of an accumulator.
  Result<ir::ValueId> extra_input(const ir::Shape& shape);

  ir::GraphBuilder builder = ir::GraphBuilder::thread();
  std::vector<ir::ValueId> inputs;  // values of the block in memory; invalid: an extra input

 private:
  const ir::Graph& block_;
  const Fusion& fusion_;
  ir::DType compute_;
  std::function<std::optional<double>(const ir::Op&)> extent_;
  std::vector<ir::ValueId> known_;  // by ValueId of the block
};

}  // namespace mirage::lower
