#pragma once
// Arguments of an emulated program in the machine's memory.

#include <cstddef>
#include <string>

#include "runtime/emulate/memory.h"
#include "runtime/executable.h"
#include "util/result.h"

namespace mirage::runtime::emulate {

/// A view's elements in the machine's memory, at the same distances; what is between them is no
/// one's.
class Mirror {
 public:
  /// Inputs are copied there, outputs are poisoned.
  Mirror(GlobalMemory& memory, const TensorView& view, std::string name, bool is_input);

  /// The address of index 0.
  std::byte* origin() const { return origin_; }
  /// Copies an output back. RunFailed if kernels left out an element.
  Result<void> fetch() const;

 private:
  std::byte* data() const { return static_cast<std::byte*>(view_.data); }
  template <class F>
  void for_each(const F& f) const;

  TensorView view_;
  size_t element_, count_ = 1;
  Region* region_ = nullptr;
  std::byte* origin_ = nullptr;
};

}  // namespace mirage::runtime::emulate
