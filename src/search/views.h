#pragma once
// Views of inputs as inputs. The axes of a narrowed or reshaped input are no axes of the input, so
// index classes cannot describe the operator; but lowering reads such a view in place. So the
// search takes it for one more input, and its kernels get the view as an operand.

#include <vector>

#include "ir/graph.h"
#include "util/result.h"

namespace mirage::search {

struct ViewedProgram {
  ir::Graph program;  // where views of inputs are inputs; inputs that only views read are left out
  std::vector<ir::ValueId> sources;  // by input of that program: the value of the original one
  std::vector<ir::OpId> views;       // operators of the original one that make them, in order
};

/// Unsupported where nothing is computed.
Result<ViewedProgram> with_views_as_inputs(const ir::Graph& program);

}  // namespace mirage::search
