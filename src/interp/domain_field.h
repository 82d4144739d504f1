#pragma once
// Values over a chain of primes: residues at levels 0, 1, ..., of which exp consumes one. What the
// field cannot compute is an opaque function: a random value keyed by the argument. Theory:
// Theorems A to D of docs/verify.md. A value without levels is undefined (division by zero, root of
// a non-square, or computed from one).

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interp/prime_chain.h"
#include "ir/ops/bodies.h"

namespace mirage::interp {

/// Functions that a run took as unknown.
struct OpaqueUse {
  bool erf = false, log = false, pow = false, maximum = false, nested_exp = false;
  std::vector<std::string> names() const;
};

/// A rational number with small terms equal to this double, or nothing.
struct SmallRational {
  int64_t numerator;
  uint64_t denominator;  // > 0
};
std::optional<SmallRational> small_rational(double value);

uint64_t mix(uint64_t a, uint64_t b);

template <int L>
struct Residues {
  std::array<uint64_t, static_cast<size_t>(L)> r;
  int levels = 0;
};

/// What a run did: arguments of exp (their residues at level 1, the exponents; at level 0 if
/// opaque), radicands and denominators (level 0), in order of the calls; 0 for undefined ones.
struct FieldRecord {
  /// Argument of a logarithm or base of a power, at level 0.
  struct Partial {
    uint64_t value = 0;
    bool may_vanish = false, may_be_negative = false;  // without leaving the function's domain
  };
  std::vector<uint64_t> exponents, radicands, denominators;
  std::vector<Partial> partials;
};

template <int L>
class FieldDomain {
 public:
  using Value = Residues<L>;

  /// Levels computed are those of the chain from level 0 on; `key` makes opaque values random.
  FieldDomain(const PrimeChain& chain, uint64_t key) : chain_(&chain), key_(key) {}

  /// Results of the next operator carry this many levels.
  void set_levels(int levels) { levels_ = levels; }
  /// Starts a new run over the same chain and key.
  void restart() {
    roots_ = 0;
    failed_roots_.clear();
    divided_by_zero_ = false;
  }
  /// Numbers of the root calls of this run whose argument was defined and not a square.
  const std::vector<size_t>& failed_roots() const { return failed_roots_; }
  bool divided_by_zero() const { return divided_by_zero_; }
  /// Where to note what a run does; null: nowhere.
  void set_record(FieldRecord* record) { record_ = record; }
  const Prime& prime(size_t level) const { return chain_->level[level]; }
  const OpaqueUse& opaque_use() const { return opaque_use_; }
  /// Softmax shifts become 0 (true) or random values (false).
  void set_zero_gauges(bool zero) { zero_gauges_ = zero; }

  Value constant(double value) {
    const std::optional<SmallRational> rational = small_rational(value);
    if (!rational) {
      const uint64_t key = mix(0x636f6e7374, std::bit_cast<uint64_t>(std::fabs(value)));
      const Value unit = opaque(key);
      return value < 0 ? neg(unit) : unit;
    }
    Value result;
    result.levels = L;
    for_levels(result, [&](const Prime& p, size_t) {
      const int64_t n = rational->numerator;
      const uint64_t size = p.from_integer(static_cast<uint64_t>(n < 0 ? -n : n));
      const uint64_t value_at = n < 0 ? p.neg(size) : size;
      if (rational->denominator == 1) return value_at;
      return p.mul(value_at, p.inverse(p.from_integer(rational->denominator)));
    });
    return result;
  }
  Value count(int64_t n) {
    Value result;
    result.levels = L;
    for_levels(result,
               [&](const Prime& p, size_t) { return p.from_integer(static_cast<uint64_t>(n)); });
    return result;
  }
  Value zero() {
    Value result;
    result.levels = L;
    result.r.fill(0);
    return result;
  }
  Value lowest() { return opaque(0x2d696e66); }
  Value fresh_gauge() { return zero_gauges_ ? zero() : opaque(mix(0x6761756765, ++gauges_)); }

  Value add(const Value& a, const Value& b) {
    return combine(a, b, [](const Prime& p, uint64_t x, uint64_t y) { return p.add(x, y); });
  }
  Value sub(const Value& a, const Value& b) {
    return combine(a, b, [](const Prime& p, uint64_t x, uint64_t y) { return p.sub(x, y); });
  }
  Value mul(const Value& a, const Value& b) {
    return combine(a, b, [](const Prime& p, uint64_t x, uint64_t y) { return p.mul(x, y); });
  }
  Value neg(const Value& a) {
    Value result;
    result.levels = a.levels;
    for_levels(result, [&](const Prime& p, size_t i) { return p.neg(a.r[i]); });
    return result;
  }
  Value div(const Value& a, const Value& b) {
    if (record_) record_->denominators.push_back(b.levels == 0 ? 0 : b.r[0]);
    return quotient(a, b);
  }
  Value quotient(const Value& a, const Value& b) {
    Value result;
    result.levels = std::min({a.levels, b.levels, cap()});
    for (int i = 0; i < result.levels; ++i)
      if (b.r[static_cast<size_t>(i)] == 0) {
        divided_by_zero_ = true;
        result.levels = 0;
        return result;
      }
    for_levels(result, [&](const Prime& p, size_t i) {
      if (denominator_[i] != b.r[i]) {  // a row is divided by one number again and again
        denominator_[i] = b.r[i];
        inverse_[i] = p.inverse(b.r[i]);
      }
      return p.mul(a.r[i], inverse_[i]);
    });
    return result;
  }
  Value dot(const Value* a, int64_t step_a, const Value* b, int64_t step_b, int64_t n) {
    Value result;
    result.levels = std::min(levels_, L);
    for (int64_t k = 0; k < n; ++k)
      result.levels = std::min({result.levels, a[k * step_a].levels, b[k * step_b].levels});
    for_levels(result, [&](const Prime& p, size_t i) {
      unsigned __int128 sum = 0;
      for (int64_t k = 0; k < n; ++k) p.accumulate(sum, a[k * step_a].r[i], b[k * step_b].r[i]);
      return p.reduce(sum);
    });
    return result;
  }
  /// Associative, commutative, idempotent and otherwise unknown: a random value keyed by the set.
  Value maximum(const Value& a, const Value& b) {
    if (a.levels == 0) return a;
    if (b.levels == 0) return b;
    std::vector<uint64_t> set = set_of(a), other = set_of(b), all;
    std::set_union(set.begin(), set.end(), other.begin(), other.end(), std::back_inserter(all));
    if (all == set) return a;
    if (all == other) return b;
    opaque_use_.maximum = true;
    uint64_t key = 0x6d6178;
    for (uint64_t element : all) key = mix(key, element);
    const Value result = opaque(key);
    sets_[result.r[0]] = std::move(all);
    return result;
  }
  Value minimum(const Value& a, const Value& b) { return neg(maximum(neg(a), neg(b))); }
  Value pow(const Value& a, const Value& b) {
    if (record_) record_->partials.push_back({a.levels == 0 ? 0 : a.r[0]});
    if (a.levels == 0) return a;
    if (b.levels == 0) return b;
    const Prime& p = chain_->level[0];
    for (int n = -kMostHalves; n <= kMostHalves; ++n) {
      const uint64_t twice = p.from_integer(static_cast<uint64_t>(std::abs(n)));
      if (p.add(b.r[0], b.r[0]) != (n < 0 ? p.neg(twice) : twice)) continue;
      if (record_) {
        record_->partials.back().may_vanish = n >= 0;
        record_->partials.back().may_be_negative = n % 2 == 0;
      }
      Value result = constant(1);
      const Value base = n % 2 == 0 ? a : unnumbered_root(a);
      const int times = n % 2 == 0 ? std::abs(n) / 2 : std::abs(n);
      for (int i = 0; i < times; ++i) result = mul(result, base);
      return n < 0 ? quotient(constant(1), result) : result;
    }
    opaque_use_.pow = true;
    return opaque(mix(mix(0x706f77, a.r[0]), b.r[0]));
  }
  Value apply(ir::Fn fn, const Value& x) {
    switch (fn) {
      case ir::Fn::Exp:
        return exp(x);
      case ir::Fn::Sqrt:
        return sqrt(x);
      case ir::Fn::Log:
        opaque_use_.log = true;
        if (record_) record_->partials.push_back({x.levels == 0 ? 0 : x.r[0]});
        return x.levels == 0 ? x : opaque(mix(0x6c6f67, x.r[0]));
      case ir::Fn::Erf:
        opaque_use_.erf = true;
        return x.levels == 0 ? x : opaque(mix(0x657266, x.r[0]));
    }
    return x;
  }

  /// A uniformly random value with this many levels.
  template <class Random>
  Value random(Random& rng, int levels) const {
    Value result;
    result.levels = std::min(levels, L);
    for_levels(result, [&](const Prime& p, size_t) { return rng.below(p.p()); });
    return result;
  }

 private:
  static constexpr int kMostHalves = 16;  // exponents of powers that are computed: up to 8

  // Inside a body one more level than the result's may be consumed by exp.
  int cap() const { return std::min(levels_ + 1, L); }

  template <class F>
  void for_levels(Value& result, F&& f) const {
    for (int i = 0; i < result.levels; ++i)
      result.r[static_cast<size_t>(i)] =
          f(chain_->level[static_cast<size_t>(i)], static_cast<size_t>(i));
  }
  template <class F>
  Value combine(const Value& a, const Value& b, F&& f) const {
    Value result;
    result.levels = std::min({a.levels, b.levels, cap()});
    for_levels(result, [&](const Prime& p, size_t i) { return f(p, a.r[i], b.r[i]); });
    return result;
  }
  Value opaque(uint64_t key) const {
    Value result;
    result.levels = L;
    for_levels(result,
               [&](const Prime& p, size_t i) { return mix(mix(key_, key), i + 1) % p.p(); });
    return result;
  }
  Value exp(const Value& x) {
    if (record_) record_->exponents.push_back(x.levels == 0 ? 0 : x.r[x.levels > 1 ? 1 : 0]);
    if (x.levels == 0) return x;
    if (x.levels == 1) {
      opaque_use_.nested_exp = true;
      return opaque(mix(0x657870, x.r[0]));
    }
    Value result;
    result.levels = x.levels - 1;
    for_levels(result, [&](const Prime& p, size_t i) {
      return p.exp(chain_->level[i + 1].to_integer(x.r[i + 1]));
    });
    return result;
  }
  Value sqrt(const Value& x) {
    const size_t call = roots_++;
    if (record_) record_->radicands.push_back(x.levels == 0 ? 0 : x.r[0]);
    Value result;
    result.levels = std::min(x.levels, cap());
    bool failed = false;
    for_levels(result, [&](const Prime& p, size_t i) {
      const std::optional<uint64_t> root = p.root(x.r[i]);
      failed |= !root;
      return root.value_or(0);
    });
    if (failed) {
      failed_roots_.push_back(call);
      result.levels = 0;
    }
    return result;
  }
  Value unnumbered_root(const Value& x) {
    FieldRecord* const record = std::exchange(record_, nullptr);
    const size_t calls = roots_;
    const size_t failed = failed_roots_.size();
    const Value result = sqrt(x);
    roots_ = calls;
    failed_roots_.resize(failed);
    record_ = record;
    return result;
  }
  std::vector<uint64_t> set_of(const Value& value) const {
    const auto found = sets_.find(value.r[0]);
    return found == sets_.end() ? std::vector<uint64_t>{value.r[0]} : found->second;
  }

  const PrimeChain* chain_;
  uint64_t key_;
  std::array<uint64_t, static_cast<size_t>(L)> denominator_{}, inverse_{};  // the last division
  int levels_ = L;
  bool zero_gauges_ = false;
  FieldRecord* record_ = nullptr;
  uint64_t gauges_ = 0;
  size_t roots_ = 0;
  std::vector<size_t> failed_roots_;
  bool divided_by_zero_ = false;
  OpaqueUse opaque_use_;
  std::unordered_map<uint64_t, std::vector<uint64_t>> sets_;  // looked up only
};

}  // namespace mirage::interp
