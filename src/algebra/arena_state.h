#pragma once
// The inside of an Arena, shared by the files that implement it: storage, hash-consing, and the
// steps of canonicalisation. Nobody else includes it.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "algebra/normal_form.h"
#include "algebra/small_vector.h"

namespace mirage::algebra {

/// Two independent 64-bit lanes. Hashes only find candidates: equality is decided structurally.
class Mixer {
 public:
  explicit Mixer(uint64_t seed) : a_(seed ^ 0x243f6a8885a308d3u), b_(seed ^ 0x13198a2e03707344u) {}
  void add(uint64_t x) {
    a_ = scrambled(a_ ^ (x * 0x9e3779b97f4a7c15u));
    b_ = scrambled(b_ + (x ^ 0xa4093822299f31d0u) * 0xd6e8feb86659fd93u);
  }
  void add(Hash128 x) {
    add(x.low);
    add(x.high);
  }
  void add(Rational x) {
    add(static_cast<uint64_t>(x.num));
    add(static_cast<uint64_t>(x.den));
  }
  Hash128 finish() const { return {scrambled(a_), scrambled(b_ ^ a_)}; }

  static uint64_t scrambled(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  uint64_t a_, b_;
};

inline uint64_t mix(uint64_t a, uint64_t b) {
  return Mixer::scrambled(a * 0x9e3779b97f4a7c15u + Mixer::scrambled(b + 0x452821e638d01377u));
}

/// Memory that lives as long as the arena.
class Pool {
 public:
  template <class T>
  std::span<const T> copy(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);
    if (values.empty()) return {};
    const size_t words = (values.size_bytes() + 7) / 8;
    if (words > room_) {
      const size_t chunk = std::max<size_t>(words, size_t{1} << 13);
      chunks_.push_back(std::make_unique<uint64_t[]>(chunk));
      next_ = chunks_.back().get();
      room_ = chunk;
    }
    T* const data = reinterpret_cast<T*>(next_);
    std::memcpy(static_cast<void*>(data), values.data(), values.size_bytes());
    next_ += words;
    room_ -= words;
    return {data, values.size()};
  }

 private:
  std::vector<std::unique_ptr<uint64_t[]>> chunks_;
  uint64_t* next_ = nullptr;
  size_t room_ = 0;
};

/// Open addressing from hashes to ids; the caller compares.
class HashIndex {
 public:
  template <class Equal>
  uint32_t find(uint64_t hash, Equal equal) const {
    if (slots_.empty()) return UINT32_MAX;
    const size_t mask = slots_.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      const Slot& slot = slots_[i];
      if (slot.id == UINT32_MAX) return UINT32_MAX;
      if (slot.hash == hash && equal(slot.id)) return slot.id;
    }
  }
  void insert(uint64_t hash, uint32_t id) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    place(hash, id);
    ++count_;
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t id = UINT32_MAX;
  };
  void place(uint64_t hash, uint32_t id) {
    const size_t mask = slots_.size() - 1;
    size_t i = hash & mask;
    while (slots_[i].id != UINT32_MAX) i = (i + 1) & mask;
    slots_[i] = {hash, id};
  }
  void grow() {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(std::max<size_t>(64, 2 * old.size()), Slot{});
    for (const Slot& slot : old)
      if (slot.id != UINT32_MAX) place(slot.hash, slot.id);
  }
  std::vector<Slot> slots_;
  size_t count_ = 0;
};

struct Form {
  std::span<const Monomial> monomials;  // ordered by key
  std::span<const Var> open;            // sorted
  uint16_t height = 0;
  uint16_t depth = 0;
  bool is_positive = false;  // no negative value for any real inputs
  Hash128 hash;
};

/// A product under construction. Its bound variables are temporary ones.
struct Raw {
  Rational coefficient = 1;
  SmallVector<Factor, 8> factors;  // no atom twice
  SmallVector<Var, 6> bound;
};

/// A sum under construction: like terms merged, order of arrival.
struct Sum {
  std::vector<Monomial> terms;
};

struct Replacement {
  Var from;
  std::span<const Var> to;
};
using Map = SmallVector<Replacement, 8>;

enum class Content : uint8_t { All, NonNegative, Exp };

struct Arena::State {
  explicit State(Limits l) : limits(l) {}

  Limits limits;
  IndexTree index;
  Pool pool;
  std::deque<Atom> atoms;
  std::vector<uint16_t> atom_depths;
  std::deque<Form> forms;
  std::deque<Monomial> keys;  // distinct monomials but for the coefficient
  std::deque<std::string> names;
  std::deque<std::span<const uint32_t>> words;  // interned argument lists of memoised operations
  struct Memo {
    uint32_t op, a, b, result;
  };
  std::vector<Memo> memos;
  HashIndex atom_index, form_index, key_index, name_index, word_index, memo_index;
  uint32_t next_temp = 0;
  size_t work = 0;
  bool failed = false;

  // intern.cc
  uint32_t name(std::string_view text);
  uint64_t var_hash(Var v) const;
  AtomId intern(AtomKind kind, uint32_t symbol, uint64_t bits, std::span<const Var> vars,
                std::span<const uint8_t> ends, std::span<const Nf> args);
  AtomId intern(AtomKind kind, uint32_t symbol, std::span<const Nf> args) {
    return intern(kind, symbol, 0, {}, {}, args);
  }
  /// The monomial with these factors (any order) and bound variables already numbered at `height`.
  Monomial intern_monomial(Rational coefficient, std::span<const Factor> factors,
                           std::span<const Node> binders, uint16_t height);
  Nf intern_form(std::span<const Monomial> sorted);
  uint32_t intern_words(std::span<const uint32_t> list);
  bool find_memo(uint32_t op, uint32_t a, uint32_t b, Nf& result) const;
  void remember(uint32_t op, uint32_t a, uint32_t b, Nf result);
  const Form& form(Nf a) const { return forms[a.index]; }
  bool is_nonnegative(const Factor& factor) const;

  // canonical.cc
  Var temp(Node node) { return {node, Var::kTempBits | next_temp++}; }
  void append(Raw& raw, AtomId atom, Rational power);
  /// base^power by content, constant and remaining sum; fails on 0^negative and even roots of -1.
  void append_power(Raw& raw, Nf base, Rational power);
  void append_exp(Raw& raw, Nf exponent, Rational power);
  void append_mapped(Raw& raw, const Factor& factor, const Map& map);
  /// Multiplies by a monomial; its bound variables become fresh temporaries.
  void append_monomial(Raw& raw, const Monomial& monomial, const Map& map = {});
  void emit(Raw raw, Sum& sum, bool drop_dead = false);
  Monomial named(const Raw& raw);
  void add_term(Sum& sum, Monomial term);
  Nf finish(Sum& sum);
  Nf finish(Raw raw);
  Nf map_form(Nf a, const Map& map);
  /// Splits off common factors: a = content * result. The content is appended to `raw` under
  /// `power`.
  Nf take_content(Raw& raw, Nf a, Rational power, Content kind);
  void append_root(Raw& raw, Rational positive, Rational power);

  // parts.cc
  bool merge_parts(Raw& raw);
  void merge_sizes(Raw& raw);
  bool find_run(AtomId atom, std::span<const Node> siblings, Var first, std::span<Var> run) const;
  bool only_in_runs(AtomId atom, std::span<const Var> run) const;
  bool is_open_in(AtomId atom, Var v) const;

  // cancel.cc
  bool cancel_one(Sum& sum);

  // operations
  Nf as_set(Nf a);
  Nf from_set(Sum& set);
};

}  // namespace mirage::algebra
