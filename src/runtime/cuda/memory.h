#pragma once
// Memory of the GPU.

#include <utility>

#include "runtime/cuda/driver.h"
#include "runtime/executable.h"
#include "util/result.h"

namespace mirage::runtime::cuda {

class Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept
      : gpu_(std::exchange(other.gpu_, nullptr)), address_(std::exchange(other.address_, 0)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(gpu_, other.gpu_);
    std::swap(address_, other.address_);
    return *this;
  }
  ~Memory();

  /// Not initialised. LimitExceeded if there is not so much.
  static Result<Memory> make(const Gpu& gpu, size_t bytes);
  DevicePtr address() const { return address_; }

 private:
  const Gpu* gpu_ = nullptr;
  DevicePtr address_ = 0;
};

/// The same bytes on the GPU as a view has in the host's memory, holes between elements included.
class Mirror {
 public:
  Mirror() = default;
  /// Copies to the GPU.
  static Result<Mirror> make(const Gpu& gpu, const TensorView& view);
  /// Copies back.
  Result<void> fetch() const;
  /// Of the element with index 0.
  DevicePtr address() const { return memory_.address() + origin_; }

 private:
  const Gpu* gpu_ = nullptr;
  std::byte* host_ = nullptr;  // the lowest address
  size_t bytes_ = 0;
  size_t origin_ = 0;  // of index 0, from the lowest address
  Memory memory_;
};

}  // namespace mirage::runtime::cuda
