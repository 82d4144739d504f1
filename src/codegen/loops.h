#pragma once
// The loop nest of an elementwise or reducing step: which axes are merged, which one vectors run
// along, which ones are loops around the call.

#include <optional>
#include <vector>

#include "lower/program.h"

namespace mirage::codegen {

struct LoopAxis {
  lower::Length length;
  std::vector<int64_t> strides;  // of each operand
};

struct LoopNest {
  std::vector<LoopAxis> outer;  // loops in the text
  LoopAxis row, col;            // loops of the library call; col is what vectors run along
};

/// `operands`: strides of all operands over the step's lengths, results first.
LoopNest elementwise_nest(const std::vector<lower::Length>& lengths,
                          const std::vector<const ir::Strides*>& operands);

struct ReduceNest {
  std::vector<LoopAxis> outer;
  LoopAxis kept;           // the other axis of the library call
  LoopAxis reduced;        // summed
  bool along_cols = true;  // vectors run along the reduced axis; else along `kept`
};

/// operands[0] is the result (stride 0 along the reduced axis).
ReduceNest reduce_nest(const std::vector<lower::Length>& lengths, size_t axis,
                       const std::vector<const ir::Strides*>& operands);

}  // namespace mirage::codegen
