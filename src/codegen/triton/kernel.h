#pragma once
// One kernel of a program as a Triton function.
//
// The text follows the kernel's block graph, not its steps: Triton computes with whole tiles that
// nobody has to place in memory, fuses elementwise chains itself, and has no views by strides of
// what it holds, so that a transposed or joined tile must be known as such. From lowering come the
// order of kernels, parameters with their strides, shifted exponentials and the lengths of tiles.

#include <string>

#include "codegen/writer.h"
#include "lower/program.h"
#include "util/result.h"

namespace mirage::codegen::triton {

struct KernelText {
  std::string text;  // lines of the function, its decorator first
  int warps = 4;     // launch options
  int stages = 1;
};

/// Unsupported or LimitExceeded with the kernel's name where Triton has no words for it, or where
/// the operands of a tl.dot do not fit the shared memory that the target says a program has.
Result<KernelText> kernel_text(const lower::KernelPlan& plan, const lower::Target& target);

}  // namespace mirage::codegen::triton
