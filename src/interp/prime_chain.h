#pragma once
// Arithmetic modulo 61-bit primes that form a Cunningham chain p0 = 2 p1 + 1, p1 = 2 p2 + 1, ...:
// the squares modulo p_i are a group of order p_(i+1), so that exp maps residues modulo p_(i+1) to
// squares modulo p_i like the reals to the positive reals. All primes are 3 modulo 4: a square has
// exactly one root that is a square. Residues are in Montgomery form with R = 2^64.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace mirage::interp {

constexpr int kMaxLevels = 4;

class Prime {
 public:
  explicit Prime(uint64_t p);

  uint64_t p() const { return p_; }
  uint64_t one() const { return one_; }
  uint64_t from_integer(uint64_t value) const { return mul(value % p_, r2_); }
  uint64_t to_integer(uint64_t residue) const { return reduce(residue); }

  uint64_t add(uint64_t a, uint64_t b) const {
    const uint64_t sum = a + b;
    return sum >= p_ ? sum - p_ : sum;
  }
  uint64_t sub(uint64_t a, uint64_t b) const { return a >= b ? a - b : a + p_ - b; }
  uint64_t neg(uint64_t a) const { return a == 0 ? 0 : p_ - a; }
  uint64_t mul(uint64_t a, uint64_t b) const {
    return reduce(static_cast<unsigned __int128>(a) * b);
  }
  uint64_t pow(uint64_t base, uint64_t exponent) const;
  /// a must not be 0.
  uint64_t inverse(uint64_t a) const { return pow(a, p_ - 2); }
  /// The root that is a square; nothing for a non-square.
  std::optional<uint64_t> root(uint64_t a) const;
  /// omega^exponent for a fixed square omega != 1; exponent an ordinary integer below (p - 1) / 2.
  uint64_t exp(uint64_t exponent) const;

  /// t < p 2^64.
  uint64_t reduce(unsigned __int128 t) const {
    const uint64_t m = static_cast<uint64_t>(t) * negative_inverse_;
    const uint64_t high = static_cast<uint64_t>((t + static_cast<unsigned __int128>(m) * p_) >> 64);
    return high >= p_ ? high - p_ : high;
  }
  /// Adds a b to an accumulator below p 2^64 and keeps it there: no limit on the number of terms.
  void accumulate(unsigned __int128& sum, uint64_t a, uint64_t b) const {
    sum += static_cast<unsigned __int128>(a) * b;
    const uint64_t high = static_cast<uint64_t>(sum >> 64);
    if (high >= p_) sum -= static_cast<unsigned __int128>(p_) << 64;
  }

 private:
  static constexpr int kWindow = 6;
  static constexpr int kWindows = 11;
  uint64_t p_;
  uint64_t negative_inverse_;  // -1 / p modulo 2^64
  uint64_t one_, r2_;
  std::array<std::array<uint64_t, 1 << kWindow>, kWindows> powers_;  // of omega
};

struct PrimeChain {
  std::array<Prime, kMaxLevels> level;
};

/// Chains of kMaxLevels primes, found once by search from random starting points
/// (prime_chains.def).
size_t chain_count();
const PrimeChain& prime_chain(size_t index);

/// Deterministic for all 64-bit numbers.
bool is_prime(uint64_t n);

}  // namespace mirage::interp
