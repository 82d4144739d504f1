#pragma once
// What a value depends on: a set of input entries and of calls of exp and roots. Calls are numbered
// as FieldDomain numbers them, since both domains run through the same evaluator.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ir/ops/bodies.h"

namespace mirage::interp {

/// A set of small numbers.
class BitSet {
 public:
  void insert(size_t i) {
    if (i / 64 >= words_.size()) words_.resize(i / 64 + 1);
    words_[i / 64] |= uint64_t{1} << (i % 64);
  }
  bool contains(size_t i) const {
    return i / 64 < words_.size() && ((words_[i / 64] >> (i % 64)) & 1) != 0;
  }
  void insert_all(const BitSet& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
    for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }
  void remove_all(const BitSet& other) {
    for (size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i)
      words_[i] &= ~other.words_[i];
  }
  void keep_all(const BitSet& other) {
    for (size_t i = 0; i < words_.size(); ++i)
      words_[i] &= i < other.words_.size() ? other.words_[i] : 0;
  }
  bool is_empty() const {
    return std::all_of(words_.begin(), words_.end(), [](uint64_t word) { return word == 0; });
  }
  /// An element that `other` lacks exists.
  bool exceeds(const BitSet& other) const {
    for (size_t i = 0; i < words_.size(); ++i)
      if ((words_[i] & ~(i < other.words_.size() ? other.words_[i] : 0)) != 0) return true;
    return false;
  }
  /// The set as bits, without trailing zeros.
  std::vector<uint64_t> words() const {
    std::vector<uint64_t> result = words_;
    while (!result.empty() && result.back() == 0) result.pop_back();
    return result;
  }
  template <class F>
  void for_each(F&& f) const {
    for (size_t i = 0; i < words_.size() * 64; ++i)
      if (contains(i)) f(i);
  }

 private:
  std::vector<uint64_t> words_;
};

struct Support {
  BitSet inputs;  // input entries, numbered through all inputs
  BitSet exps;    // calls of exp
  BitSet roots;   // calls of sqrt
};

class SupportDomain {
 public:
  using Value = Support;

  /// Arguments of each call, in order.
  const std::vector<Support>& exps() const { return exps_; }
  const std::vector<Support>& roots() const { return roots_; }
  const std::vector<Support>& denominators() const { return denominators_; }

  static Value constant(double) { return {}; }
  static Value count(int64_t) { return {}; }
  static Value zero() { return {}; }
  static Value lowest() { return {}; }
  static Value fresh_gauge() { return {}; }
  static Value neg(const Value& a) { return a; }
  static Value add(const Value& a, const Value& b) {
    Value result = a;
    insert(result, b);
    return result;
  }
  static Value sub(const Value& a, const Value& b) { return add(a, b); }
  static Value mul(const Value& a, const Value& b) { return add(a, b); }
  static Value maximum(const Value& a, const Value& b) { return add(a, b); }
  static Value minimum(const Value& a, const Value& b) { return add(a, b); }
  static Value pow(const Value& a, const Value& b) { return add(a, b); }
  Value div(const Value& a, const Value& b) {
    denominators_.push_back(b);
    return add(a, b);
  }
  Value apply(ir::Fn fn, const Value& x) {
    Value result = x;
    if (fn == ir::Fn::Exp) {
      result.exps.insert(exps_.size());
      exps_.push_back(x);
    } else if (fn == ir::Fn::Sqrt) {
      result.roots.insert(roots_.size());
      roots_.push_back(x);
    }
    return result;
  }
  static Value dot(const Value* a, int64_t step_a, const Value* b, int64_t step_b, int64_t n) {
    Value result;
    for (int64_t i = 0; i < n; ++i)
      for (const Value* term : {&a[i * step_a], &b[i * step_b]}) insert(result, *term);
    return result;
  }

 private:
  static void insert(Value& into, const Value& value) {
    into.inputs.insert_all(value.inputs);
    into.exps.insert_all(value.exps);
    into.roots.insert_all(value.roots);
  }

  std::vector<Support> exps_, roots_, denominators_;
};

}  // namespace mirage::interp
