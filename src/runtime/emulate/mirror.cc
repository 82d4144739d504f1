#include "runtime/emulate/mirror.h"

#include <cstring>

namespace mirage::runtime::emulate {

/// f of each element's distance from index 0 in bytes.
template <class F>
void Mirror::for_each(const F& f) const {
  std::vector<int64_t> index(view_.shape.size(), 0);
  int64_t at = 0;  // elements
  for (size_t i = 0; i < count_; ++i) {
    f(static_cast<ptrdiff_t>(at) * static_cast<ptrdiff_t>(element_));
    for (size_t axis = index.size(); axis-- > 0;) {
      at += view_.strides[axis];
      if (++index[axis] < view_.shape[axis]) break;
      at -= view_.strides[axis] * view_.shape[axis];
      index[axis] = 0;
    }
  }
}

Mirror::Mirror(GlobalMemory& memory, const TensorView& view, std::string name, bool is_input)
    : view_(view), element_(static_cast<size_t>(ir::bytes_of(view.dtype))) {
  for (const int64_t extent : view.shape) count_ *= static_cast<size_t>(extent);
  size_t bytes = 0, below = 0;
  if (count_ > 0) {
    const auto [low, high] = reach_of(view.shape, view.strides);
    below = static_cast<size_t>(-low) * element_;
    bytes = static_cast<size_t>(high - low + 1) * element_;
  }
  region_ = &memory.add(std::move(name), bytes, is_input);
  origin_ = region_->begin + below;
  const auto state = is_input ? CellState::Written : CellState::Unwritten;
  if (bytes > count_ * element_) {
    region_->shadow.set(0, bytes, CellState::Outside);
    for_each([&](ptrdiff_t at) {
      region_->shadow.set(region_->offset_of(origin_ + at), element_, state);
    });
  }
  if (is_input) for_each([&](ptrdiff_t at) { std::memcpy(origin_ + at, data() + at, element_); });
}

Result<void> Mirror::fetch() const {
  if (const auto at = region_->shadow.find(0, region_->bytes, CellState::Unwritten))
    return fail(Code::RunFailed, "{} + {}: nobody wrote it", region_->name, *at);
  for_each([&](ptrdiff_t at) { std::memcpy(data() + at, origin_ + at, element_); });
  return {};
}

}  // namespace mirage::runtime::emulate
