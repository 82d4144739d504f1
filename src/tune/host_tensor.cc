#include "tune/host_tensor.h"

#include <cstdlib>
#include <cstring>

#include "ir/element.h"
#include "tune/machine.h"

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

std::vector<double> HostTensor::to_doubles() const {
  std::vector<double> values;
  values.reserve(static_cast<size_t>(ir::element_count(type_.shape)));
  const int64_t size = ir::bytes_of(type_.dtype);
  const std::byte* base = memory_.get() + origin_ * size;
  if (type_.dtype == ir::DType::F32)  // the common case, without a call an element
    for_each_offset(type_.shape, strides_, [&](int64_t offset) {
      values.push_back(static_cast<double>(reinterpret_cast<const float*>(base)[offset]));
    });
  else
    for_each_offset(type_.shape, strides_, [&](int64_t offset) {
      values.push_back(ir::load_element(type_.dtype, base + offset * size));
    });
  return values;
}

void HostTensor::assign(const std::vector<double>& values) {
  const int64_t size = ir::bytes_of(type_.dtype);
  std::byte* base = memory_.get() + origin_ * size;
  size_t next = 0;
  for_each_offset(type_.shape, strides_, [&](int64_t offset) {
    ir::store_element(type_.dtype, base + offset * size, values[next++]);
  });
}

void HostTensor::poison(unsigned char byte) { std::memset(memory_.get(), byte, bytes_); }

runtime::TensorView HostTensor::view() const {
  return {memory_.get() + origin_ * ir::bytes_of(type_.dtype), type_.dtype, type_.shape, strides_};
}

}  // namespace mirage::tune
