#include "ir/element.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace mirage::ir {
namespace {

/// A small IEEE-like format: sign, exponent bits, mantissa bits. `finite_top`: the top exponent
/// holds ordinary numbers too, all ones alone is NaN, and there is no infinity (OCP E4M3).
struct Format {
  int exponent_bits, mantissa_bits;
  bool finite_top;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
constexpr Format kBf16{8, 7, false}, kF16{5, 10, false}, kE4M3{4, 3, true}, kE5M2{5, 2, false};

double decode(const Format& f, uint32_t bits) {
  const int total = f.exponent_bits + f.mantissa_bits;
  const double sign = (bits >> total) & 1 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> f.mantissa_bits) & ((1 << f.exponent_bits) - 1);
  const int mantissa = static_cast<int>(bits) & ((1 << f.mantissa_bits) - 1);
  const int top = (1 << f.exponent_bits) - 1;
  if (exponent == top) {
    const bool all_ones = mantissa == (1 << f.mantissa_bits) - 1;
    if (f.finite_top ? all_ones : mantissa != 0) return std::numeric_limits<double>::quiet_NaN();
    if (!f.finite_top) return sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - f.bias() - f.mantissa_bits);
  return sign *
         std::ldexp((1 << f.mantissa_bits) + mantissa, exponent - f.bias() - f.mantissa_bits);
}

double largest(const Format& f) {
  const uint32_t top = ((1u << (f.exponent_bits + f.mantissa_bits)) - 1);
  return decode(f, f.finite_top ? top - 1 : top - (1u << f.mantissa_bits));
}

uint32_t encode(const Format& f, double value) {
  const int total = f.exponent_bits + f.mantissa_bits;
  const uint32_t sign = std::signbit(value) ? 1u << total : 0u;
  const uint32_t top = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
  const uint32_t nan = sign | ((1u << total) - 1);
  if (std::isnan(value)) return nan;
  const double magnitude = std::fabs(value);
  const uint32_t overflow = f.finite_top ? nan : sign | top;
  if (std::isinf(value)) return overflow;
  if (magnitude == 0) return sign;
  // Round to a multiple of the spacing at this magnitude; nearbyint rounds to even, ldexp is exact.
  const int exponent = std::max(std::ilogb(magnitude), 1 - f.bias());
  const int spacing = exponent - f.mantissa_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(magnitude, -spacing)), spacing);
  if (rounded > largest(f)) return overflow;
  if (rounded == 0) return sign;
  const int e = std::ilogb(rounded);
  if (e < 1 - f.bias())
    return sign | static_cast<uint32_t>(std::ldexp(rounded, f.bias() - 1 + f.mantissa_bits));
  const auto mantissa = static_cast<uint32_t>(std::ldexp(rounded, f.mantissa_bits - e)) &
                        ((1u << f.mantissa_bits) - 1);
  return sign | static_cast<uint32_t>(e + f.bias()) << f.mantissa_bits | mantissa;
}

template <class T>
T get(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <class T>
void put(void* address, T value) {
  std::memcpy(address, &value, sizeof(T));
}

template <class T>
void put_integer(void* address, double value) {
  T out = 0;
  if (value >= std::ldexp(1.0, std::numeric_limits<T>::digits))
    out = std::numeric_limits<T>::max();
  else if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    out = std::numeric_limits<T>::min();
  else if (!std::isnan(value))
    out = static_cast<T>(value);
  put(address, out);
}

}  // namespace

double load_element(DType dtype, const void* address) {
  switch (dtype) {
    case DType::F64:
      return get<double>(address);
    case DType::F32:
      return static_cast<double>(get<float>(address));
    case DType::BF16:
      return decode(kBf16, get<uint16_t>(address));
    case DType::F16:
      return decode(kF16, get<uint16_t>(address));
    case DType::F8E4M3:
      return decode(kE4M3, get<uint8_t>(address));
    case DType::F8E5M2:
      return decode(kE5M2, get<uint8_t>(address));
    case DType::I64:
      return static_cast<double>(get<int64_t>(address));
    case DType::I32:
      return get<int32_t>(address);
    case DType::I16:
      return get<int16_t>(address);
    case DType::I8:
      return get<int8_t>(address);
    case DType::U64:
      return static_cast<double>(get<uint64_t>(address));
    case DType::U32:
      return get<uint32_t>(address);
    case DType::U16:
      return get<uint16_t>(address);
    case DType::U8:
      return get<uint8_t>(address);
    case DType::Bool:
      return get<uint8_t>(address) != 0 ? 1 : 0;
  }
  return 0;
}

void store_element(DType dtype, void* address, double value) {
  switch (dtype) {
    case DType::F64:
      return put(address, value);
    case DType::F32:
      return put(address, static_cast<float>(value));
    case DType::BF16:
      return put(address, static_cast<uint16_t>(encode(kBf16, value)));
    case DType::F16:
      return put(address, static_cast<uint16_t>(encode(kF16, value)));
    case DType::F8E4M3:
      return put(address, static_cast<uint8_t>(encode(kE4M3, value)));
    case DType::F8E5M2:
      return put(address, static_cast<uint8_t>(encode(kE5M2, value)));
    case DType::I64:
      return put_integer<int64_t>(address, value);
    case DType::I32:
      return put_integer<int32_t>(address, value);
    case DType::I16:
      return put_integer<int16_t>(address, value);
    case DType::I8:
      return put_integer<int8_t>(address, value);
    case DType::U64:
      return put_integer<uint64_t>(address, value);
    case DType::U32:
      return put_integer<uint32_t>(address, value);
    case DType::U16:
      return put_integer<uint16_t>(address, value);
    case DType::U8:
      return put_integer<uint8_t>(address, value);
    case DType::Bool:
      return put(address, static_cast<uint8_t>(value != 0));
  }
}

double round_to(DType dtype, double value) {
  unsigned char raw[8];
  store_element(dtype, raw, value);
  return load_element(dtype, raw);
}

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return 0x1p-53;
    case DType::F32:
      return 0x1p-24;
    case DType::BF16:
      return 0x1p-8;
    case DType::F16:
      return 0x1p-11;
    case DType::F8E4M3:
      return 0x1p-4;
    case DType::F8E5M2:
      return 0x1p-3;
    default:
      return 0;
  }
}

double max_finite(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return std::numeric_limits<double>::max();
    case DType::F32:
      return static_cast<double>(std::numeric_limits<float>::max());
    case DType::BF16:
      return largest(kBf16);
    case DType::F16:
      return largest(kF16);
    case DType::F8E4M3:
      return largest(kE4M3);
    case DType::F8E5M2:
      return largest(kE5M2);
    default: {
      const double huge = std::numeric_limits<double>::max();
      return round_to(dtype, huge);
    }
  }
}

double min_positive(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return std::numeric_limits<double>::denorm_min();
    case DType::F32:
      return 0x1p-149;
    case DType::BF16:
      return 0x1p-133;
    case DType::F16:
      return 0x1p-24;
    case DType::F8E4M3:
      return 0x1p-9;
    case DType::F8E5M2:
      return 0x1p-16;
    default:
      return 1;
  }
}

}  // namespace mirage::ir
