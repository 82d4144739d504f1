#include "algebra/rational.h"

#include <cstdlib>
#include <numeric>

namespace mirage::algebra {
namespace {

Rational invalid() {
  Rational result;
  result.den = 0;
  return result;
}

// 2^62 keeps every sum of two products inside 128 bits and every negation inside 64.
constexpr __int128 kLimit = __int128{1} << 62;

__int128 gcd(__int128 a, __int128 b) {
  if (a < 0) a = -a;
  while (b != 0) {
    const __int128 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

Rational reduced(__int128 num, __int128 den) {
  if (den == 0) return invalid();
  if (den < 0) {
    num = -num;
    den = -den;
  }
  if (den != 1) {
    const __int128 common = gcd(num, den);
    num /= common;
    den /= common;
  }
  if (num >= kLimit || num <= -kLimit || den >= kLimit) return invalid();
  Rational result(static_cast<int64_t>(num));
  result.den = static_cast<int64_t>(den);
  return result;
}

}  // namespace

Rational::Rational(int64_t numerator, int64_t denominator) {
  *this = reduced(numerator, denominator);
}

Rational operator+(Rational a, Rational b) {
  if (!a.is_valid() || !b.is_valid()) return invalid();
  if (a.den == 1 && b.den == 1) return reduced(__int128{a.num} + b.num, 1);
  return reduced(__int128{a.num} * b.den + __int128{b.num} * a.den, __int128{a.den} * b.den);
}

Rational operator-(Rational a) {
  a.num = -a.num;
  return a;
}

Rational operator-(Rational a, Rational b) { return a + (-b); }

Rational operator*(Rational a, Rational b) {
  if (!a.is_valid() || !b.is_valid()) return invalid();
  return reduced(__int128{a.num} * b.num, __int128{a.den} * b.den);
}

Rational operator/(Rational a, Rational b) {
  if (!a.is_valid() || !b.is_valid()) return invalid();
  return reduced(__int128{a.num} * b.den, __int128{a.den} * b.num);
}

bool operator<(Rational a, Rational b) { return __int128{a.num} * b.den < __int128{b.num} * a.den; }

Rational abs(Rational a) { return a.num < 0 ? -a : a; }

Rational power(Rational a, int64_t exponent) {
  if (exponent < 0) return power(Rational(1) / a, -exponent);
  if (a == Rational(1)) return a;
  if (a == Rational(-1)) return exponent % 2 ? a : Rational(1);
  if (exponent > 64 && !a.is_zero()) return invalid();
  Rational result(1);
  for (int64_t i = 0; i < exponent; ++i) result = result * a;
  return result;
}

std::string to_string(Rational a) {
  if (!a.is_valid()) return "?";
  std::string text = std::to_string(a.num);
  if (a.den != 1) text += "/" + std::to_string(a.den);
  return text;
}

}  // namespace mirage::algebra
