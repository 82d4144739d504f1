#include "interp/domain_field.h"

namespace mirage::interp {

std::vector<std::string> OpaqueUse::names() const {
  std::vector<std::string> result;
  if (erf) result.push_back("erf");
  if (log) result.push_back("log");
  if (pow) result.push_back("pow");
  if (maximum) result.push_back("maximum");
  if (nested_exp) result.push_back("exp nested deeper than the chain of primes");
  return result;
}

std::optional<SmallRational> small_rational(double value) {
  if (!std::isfinite(value) || std::fabs(value) > 0x1p40) return std::nullopt;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  if (value != 0 && std::fabs(mantissa) == 0.5 && exponent < 1 && exponent > -40)
    return SmallRational{mantissa < 0 ? -1 : 1, uint64_t{1} << (1 - exponent)};
  for (uint64_t denominator = 1; denominator <= 64; ++denominator) {
    const double numerator = std::nearbyint(value * static_cast<double>(denominator));
    const bool is_small = denominator == 1 || std::fabs(numerator) <= 4096;
    if (is_small && numerator / static_cast<double>(denominator) == value &&
        (numerator != 0 || value == 0))
      return SmallRational{static_cast<int64_t>(numerator), denominator};
  }
  return std::nullopt;
}

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x2545f4914f6cdd1du;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace mirage::interp
