#include "tune/host_tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "ir/element.h"
#include "tune/machine.h"
#include "util/parallel.h"

namespace mirage::tune {

void HostTensor::Free::operator()(std::byte* memory) const { std::free(memory); }

Result<HostTensor> HostTensor::make(ir::TensorType type, ir::Strides strides) {
  HostTensor tensor;
  if (strides.empty()) strides = ir::row_major_strides(type.shape);
  const runtime::Reach reach = runtime::reach_of(type.shape, strides);
  tensor.origin_ = -reach.low;
  tensor.type_ = std::move(type);
  tensor.strides_ = std::move(strides);
  const auto elements = static_cast<size_t>(reach.high - reach.low + 1);
  const auto size = static_cast<size_t>(ir::bytes_of(tensor.type_.dtype));
  tensor.bytes_ = (elements * size + 63) / 64 * 64;
  // The system grants more than it has and kills whoever uses it.
  const bool can_be = tensor.bytes_ <= static_cast<size_t>(memory_bytes());
  void* memory = can_be ? std::aligned_alloc(64, tensor.bytes_) : nullptr;
  if (memory == nullptr)
    return fail(Code::LimitExceeded, "no memory for a tensor of {} bytes", tensor.bytes_);
  std::memset(memory, 0, tensor.bytes_);
  tensor.memory_.reset(static_cast<std::byte*>(memory));
  return tensor;
}

template <class Body>
void HostTensor::for_each_element(int threads, const Body& body) const {
  constexpr int64_t kLeast = 1 << 15;  // elements that are worth a thread
  const int64_t size = ir::bytes_of(type_.dtype);
  std::byte* const base = memory_.get() + origin_ * size;
  const int64_t width = type_.shape.empty() ? 1 : std::max<int64_t>(type_.shape.back(), 1);
  const int64_t least = (kLeast + width - 1) / width;
  in_parallel(threads, row_count(type_.shape), least, [&](int64_t first, int64_t end) {
    auto number = static_cast<size_t>(first * width);
    for_each_offset(type_.shape, strides_, first, end,
                    [&](int64_t offset) { body(number++, base + offset * size); });
  });
}

std::vector<double> HostTensor::to_doubles(int threads) const {
  std::vector<double> values(static_cast<size_t>(ir::element_count(type_.shape)));
  if (type_.dtype == ir::DType::F32)  // the common case, without a call an element
    for_each_element(threads, [&](size_t i, const std::byte* at) {
      values[i] = static_cast<double>(*reinterpret_cast<const float*>(at));
    });
  else
    for_each_element(threads, [&](size_t i, const std::byte* at) {
      values[i] = ir::load_element(type_.dtype, at);
    });
  return values;
}

void HostTensor::assign(const std::vector<double>& values, int threads) {
  // Elements that may share memory are written in order.
  const bool is_dense = strides_ == ir::row_major_strides(type_.shape);
  for_each_element(is_dense ? threads : 1,
                   [&](size_t i, std::byte* at) { ir::store_element(type_.dtype, at, values[i]); });
}

void HostTensor::poison(unsigned char byte) { std::memset(memory_.get(), byte, bytes_); }

runtime::TensorView HostTensor::view() const {
  return {memory_.get() + origin_ * ir::bytes_of(type_.dtype), type_.dtype, type_.shape, strides_};
}

}  // namespace mirage::tune
