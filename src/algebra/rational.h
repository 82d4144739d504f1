#pragma once
// Small exact fractions: coefficients and powers of normal forms. Overflow makes a value invalid,
// which every later operation keeps and the arena turns into an invalid normal form.

#include <compare>
#include <cstdint>
#include <string>

namespace mirage::algebra {

struct Rational {
  int64_t num = 0;
  int64_t den = 1;  // > 0 and coprime to num; 0 means overflow

  constexpr Rational() = default;
  constexpr Rational(int64_t value) : num(value) {}  // NOLINT: numbers are rationals
  Rational(int64_t numerator, int64_t denominator);

  bool is_valid() const { return den != 0; }
  bool is_integer() const { return den == 1; }
  bool is_zero() const { return num == 0 && den != 0; }
  bool operator==(const Rational&) const = default;
};

Rational operator+(Rational a, Rational b);
Rational operator-(Rational a, Rational b);
Rational operator*(Rational a, Rational b);
Rational operator/(Rational a, Rational b);  // b nonzero
Rational operator-(Rational a);
bool operator<(Rational a, Rational b);
Rational abs(Rational a);
/// a to an integer power; a nonzero or power >= 0.
Rational power(Rational a, int64_t exponent);
std::string to_string(Rational a);

}  // namespace mirage::algebra
