#pragma once
// Processes that measure on the GPU take turns, so that several may search, compile and make
// references at once and none is in the times of another.

#include "util/deadline.h"
#include "util/result.h"

namespace mirage::tune {

/// A lock on the file $MIRAGE_GPU_LOCK, by default one of the user's in the folder for temporary
/// files. Children inherit it; a process that ends gives it back.
class GpuTurn {
 public:
  /// Waits. Timeout at the deadline; Io if there can be no such file.
  static Result<GpuTurn> take(const Deadline& deadline);
  GpuTurn() = default;  // holds nothing
  GpuTurn(GpuTurn&& other) noexcept;
  GpuTurn& operator=(GpuTurn&&) = delete;
  ~GpuTurn();

 private:
  int descriptor_ = -1;
};

}  // namespace mirage::tune
