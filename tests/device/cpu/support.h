// What the tests of device/cpu share: the kit under test, errors in ulp, random data, guarded
// buffers.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "mirage/cpu/tile.h"

namespace mirage::cpu {

using Isa = Native;
template <class T>
using V = Vec<T, Isa>;

/// Distance of `got` from the exact value in units in the last place of the exact value rounded to
/// T. Right infinities, zeros and NaNs have distance 0, wrong ones infinity.
template <class T>
double ulp_error(T got, long double exact) {
  const double kWrong = HUGE_VAL;
  if (std::isnan(exact)) return std::isnan(got) ? 0 : kWrong;
  if (std::isnan(got)) return kWrong;
  const T rounded = static_cast<T>(exact);
  if (got == rounded) return std::signbit(got) == std::signbit(rounded) ? 0 : kWrong;
  if (std::isinf(exact)) return kWrong;
  const T magnitude = std::min(std::fabs(rounded), std::numeric_limits<T>::max());
  const T unit = magnitude == std::numeric_limits<T>::max()
                     ? magnitude - std::nextafter(magnitude, T{0})
                     : std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
  if (std::isinf(got)) return magnitude == std::numeric_limits<T>::max() ? 1 : kWrong;
  return static_cast<double>(std::fabs(got - exact) / static_cast<long double>(unit));
}

inline std::mt19937_64& generator() {
  static std::mt19937_64 engine(1);
  return engine;
}

/// Values of about unit size that every storage type holds exactly.
template <class S>
std::vector<S> random_values(int64_t count) {
  std::uniform_int_distribution<int> steps(-64, 64);
  std::vector<S> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(convert<S>(static_cast<float>(steps(generator())) / 32));
  return values;
}

/// Elements that end where an unmapped page begins: an access beyond the last one is a crash.
template <class S>
class GuardedBuffer {
 public:
  explicit GuardedBuffer(int64_t count)
      : GuardedBuffer(std::vector<S>(static_cast<size_t>(count))) {}
  explicit GuardedBuffer(const std::vector<S>& values) {
    const size_t page = 4096, bytes = values.size() * sizeof(S);
    size_ = (bytes + page - 1) / page * page + page;
    base_ = static_cast<char*>(
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + size_ - page, page, PROT_NONE);
    data_ = reinterpret_cast<S*>(base_ + size_ - page - bytes);
    std::copy(values.begin(), values.end(), data_);
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer() { munmap(base_, size_); }

  S* data() { return data_; }
  double operator[](int64_t i) const { return widen<double>(data_[i]); }

 private:
  char* base_;
  size_t size_;
  S* data_;
};

template <class S>
constexpr const char* kStorageName = sizeof(S) == 8           ? "f64"
                                     : sizeof(S) == 4         ? "f32"
                                     : std::is_same_v<S, F16> ? "f16"
                                                              : "bf16";

}  // namespace mirage::cpu
