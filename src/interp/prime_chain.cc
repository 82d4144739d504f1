#include "interp/prime_chain.h"

#include <vector>

#include "util/check.h"

namespace mirage::interp {
namespace {

// The smallest prime of each chain.
constexpr uint64_t kSmallest[] = {
#define CHAIN(p) p,
#include "interp/prime_chains.def"
#undef CHAIN
};

std::vector<PrimeChain> all_chains() {
  std::vector<PrimeChain> chains;
  for (uint64_t p3 : kSmallest)
    chains.push_back({{Prime(8 * p3 + 7), Prime(4 * p3 + 3), Prime(2 * p3 + 1), Prime(p3)}});
  return chains;
}

uint64_t power(uint64_t base, uint64_t exponent, uint64_t modulus) {
  unsigned __int128 result = 1, square = base % modulus;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = result * square % modulus;
    square = square * square % modulus;
  }
  return static_cast<uint64_t>(result);
}

}  // namespace

Prime::Prime(uint64_t p) : p_(p) {
  MIRAGE_CHECK(p % 4 == 3 && p < (uint64_t{1} << 61), "prime of a chain");
  uint64_t inverse = 1;  // Newton: each step doubles the number of right bits
  for (int i = 0; i < 6; ++i) inverse *= 2 - p * inverse;
  negative_inverse_ = ~inverse + 1;
  one_ = static_cast<uint64_t>((static_cast<unsigned __int128>(1) << 64) % p);
  r2_ = static_cast<uint64_t>(static_cast<unsigned __int128>(one_) * one_ % p);
  uint64_t omega = from_integer(4);
  for (auto& window : powers_) {
    window[0] = one_;
    for (size_t i = 1; i < window.size(); ++i) window[i] = mul(window[i - 1], omega);
    omega = mul(window.back(), omega);
  }
}

uint64_t Prime::pow(uint64_t base, uint64_t exponent) const {
  uint64_t result = one_;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = mul(result, base);
    base = mul(base, base);
  }
  return result;
}

std::optional<uint64_t> Prime::root(uint64_t a) const {
  const uint64_t r = pow(a, (p_ + 1) / 4);
  if (mul(r, r) != a) return std::nullopt;
  return r;
}

uint64_t Prime::exp(uint64_t exponent) const {
  uint64_t result = one_;
  for (size_t i = 0; exponent > 0; ++i, exponent >>= kWindow)
    result = mul(result, powers_[i][exponent & ((1 << kWindow) - 1)]);
  return result;
}

size_t chain_count() { return std::size(kSmallest); }

const PrimeChain& prime_chain(size_t index) {
  static const std::vector<PrimeChain> kChains = all_chains();
  return kChains[index % kChains.size()];
}

bool is_prime(uint64_t n) {
  constexpr uint64_t kBases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  for (uint64_t q : kBases)
    if (n % q == 0) return n == q;
  if (n < 2) return false;
  uint64_t odd = n - 1;
  int twos = 0;
  for (; odd % 2 == 0; odd /= 2) ++twos;
  for (uint64_t base : kBases) {
    uint64_t x = power(base, odd, n);
    if (x == 1 || x == n - 1) continue;
    bool passes = false;
    for (int i = 1; i < twos && !passes; ++i) {
      x = power(x, 2, n);
      passes = x == n - 1;
    }
    if (!passes) return false;
  }
  return true;
}

}  // namespace mirage::interp
