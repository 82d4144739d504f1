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

/// Offsets in elements, from index 0, of the lowest and the highest element; axes without elements
/// count as one of length 1.
struct Reach {
  int64_t low = 0, high = 0;
};
Reach reach_of(std::span<const int64_t> shape, std::span<const int64_t> strides);

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

/// The addresses of a unit's buffers in their order: input(i), output(i) or workspace(offset).
template <class Address, class Input, class Output, class Workspace>
std::vector<Address> buffer_addresses(const codegen::SourceUnit& unit, const Input& input,
                                      const Output& output, const Workspace& workspace) {
  std::vector<Address> addresses;
  addresses.reserve(unit.buffers.size());
  for (const codegen::Buffer& buffer : unit.buffers) {
    switch (buffer.source) {
      case codegen::BufferSource::Input:
        addresses.push_back(input(buffer.index));
        break;
      case codegen::BufferSource::Output:
        addresses.push_back(output(buffer.index));
        break;
      case codegen::BufferSource::Workspace:
        addresses.push_back(workspace(buffer.offset));
        break;
    }
  }
  return addresses;
}

/// BadInput unless the views fit the arguments.
Result<void> check_arguments(const codegen::SourceUnit& unit, std::span<const TensorView> inputs,
                             std::span<const TensorView> outputs);

}  // namespace mirage::runtime
