#pragma once
// A program in memory, ready to run.

#include <memory>
#include <span>
#include <vector>

#include "codegen/source_unit.h"
#include "util/result.h"

namespace mirage::runtime {

/// Memory of the caller. Strides in elements.
struct TensorView {
  void* data = nullptr;
  codegen::ElementType dtype = codegen::ElementType::F32;
  std::vector<int64_t> shape, strides;
};

class Executable {
 public:
  virtual ~Executable() = default;

  virtual const codegen::SourceUnit& source() const = 0;

  /// Runs on up to `threads` threads (0: as many as the machine has). BadInput if a view differs
  /// from the argument it stands for in type, shape or strides (strides of axes with fewer than two
  /// elements do not count). Outputs must not overlap inputs or each other. May be called from
  /// several threads.
  virtual Result<void> run(std::span<const TensorView> inputs, std::span<const TensorView> outputs,
                           int threads) const = 0;
};

/// BadInput unless the views fit the arguments.
Result<void> check_arguments(const codegen::SourceUnit& unit, std::span<const TensorView> inputs,
                             std::span<const TensorView> outputs);

}  // namespace mirage::runtime
