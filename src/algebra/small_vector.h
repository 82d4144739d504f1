#pragma once
// A vector of trivially copyable elements whose first N lie inside it: canonicalisation makes many
// short lists and would otherwise spend its time in malloc.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>

namespace mirage::algebra {

template <class T, size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallVector() = default;
  SmallVector(std::initializer_list<T> values) { append({values.begin(), values.size()}); }
  explicit SmallVector(std::span<const T> values) { append(values); }
  SmallVector(const SmallVector& other) { append(other); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      clear();
      append(other);
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~SmallVector() = default;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return heap_ ? heap_.get() : inline_data(); }
  const T* data() const { return heap_ ? heap_.get() : inline_data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void clear() { size_ = 0; }
  void pop_back() { --size_; }
  void push_back(const T& value) {
    const T copy = value;  // value may lie inside this vector
    reserve(size_ + 1);
    data()[size_++] = copy;
  }
  void append(std::span<const T> values) {
    if (values.empty()) return;
    reserve(size_ + values.size());
    std::memcpy(static_cast<void*>(data() + size_), values.data(), values.size() * sizeof(T));
    size_ += values.size();
  }
  void resize(size_t size) {
    reserve(size);
    for (size_t i = size_; i < size; ++i) data()[i] = T{};
    size_ = size;
  }
  void erase(size_t i) {
    std::copy(begin() + i + 1, end(), begin() + i);
    --size_;
  }

 private:
  T* inline_data() { return reinterpret_cast<T*>(inline_); }
  const T* inline_data() const { return reinterpret_cast<const T*>(inline_); }
  void take(SmallVector& other) {
    heap_ = std::move(other.heap_);
    capacity_ = other.capacity_;
    size_ = other.size_;
    if (!heap_ && size_ > 0) std::memcpy(inline_, other.inline_, size_ * sizeof(T));
    other.capacity_ = N;
    other.size_ = 0;
  }
  void reserve(size_t capacity) {
    if (capacity <= capacity_) return;
    capacity = std::max(capacity, 2 * capacity_);
    std::unique_ptr<T[]> bigger(new T[capacity]);
    if (size_ > 0) std::memcpy(static_cast<void*>(bigger.get()), data(), size_ * sizeof(T));
    heap_ = std::move(bigger);
    capacity_ = capacity;
  }

  std::unique_ptr<T[]> heap_;
  size_t size_ = 0;
  size_t capacity_ = N;
  alignas(T) unsigned char inline_[N * sizeof(T)];
};

}  // namespace mirage::algebra
