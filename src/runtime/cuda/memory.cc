#include "runtime/cuda/memory.h"

#include <algorithm>

namespace mirage::runtime::cuda {

Memory::~Memory() {
  if (address_ != 0) (void)gpu_->driver->free(address_);
}

Result<Memory> Memory::make(const Gpu& gpu, size_t bytes) {
  Memory memory;
  memory.gpu_ = &gpu;
  if (gpu.driver->alloc(&memory.address_, bytes > 0 ? bytes : 1) != 0)
    return fail(Code::LimitExceeded, "no memory for {} bytes on {}", bytes, gpu.name);
  return memory;
}

Result<Mirror> Mirror::make(const Gpu& gpu, const TensorView& view) {
  Mirror mirror;
  mirror.gpu_ = &gpu;
  const bool is_empty = std::find(view.shape.begin(), view.shape.end(), 0) != view.shape.end();
  if (!is_empty) {
    const auto [low, high] = reach_of(view.shape, view.strides);
    const int64_t element = ir::bytes_of(view.dtype);
    mirror.origin_ = static_cast<size_t>(-low * element);
    mirror.bytes_ = static_cast<size_t>((high - low + 1) * element);
    mirror.host_ = static_cast<std::byte*>(view.data) - mirror.origin_;
  }
  MIRAGE_TRY(mirror.memory_, Memory::make(gpu, mirror.bytes_));
  if (!is_empty)
    MIRAGE_TRY_VOID(gpu.driver->check(
        gpu.driver->to_device(mirror.memory_.address(), mirror.host_, mirror.bytes_), "copy"));
  return mirror;
}

Result<void> Mirror::fetch() const {
  if (bytes_ == 0) return {};
  return gpu_->driver->check(gpu_->driver->to_host(host_, memory_.address(), bytes_), "copy");
}

}  // namespace mirage::runtime::cuda
