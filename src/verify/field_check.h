#pragma once
// One random evaluation of a pair of (small) programs over a chain of primes, and what can be said
// about its probability of error.

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "util/result.h"

namespace mirage::verify {

struct FieldTrial {
  bool is_defined = false;  // inputs were found on which both programs are defined
  /// equal[i][j]: output i of the reference has all entries equal to output j of the candidate.
  std::vector<std::vector<bool>> equal;
  /// log2 of the probability that a different pair passes this trial; 0: no bound.
  double log2_error = 0;
};

/// Prepared once for a pair, used for several trials. Not for concurrent use.
class FieldCheck {
 public:
  virtual ~FieldCheck() = default;
  /// Without `with_bound`, only whether both are equal. Otherwise, if they may be, the pair is
  /// analysed (once), and the properties below are known.
  virtual Result<FieldTrial> trial(uint64_t seed, bool with_bound = true) = 0;
  /// The analysis by itself: a pair that differs here may still be proved equal.
  virtual Result<void> examine() = 0;
  virtual const std::string& bound_reason() const = 0;
  /// Empty, or which denominator, radicand, base of a power or argument of a logarithm of the
  /// candidate may be outside its domain where the reference is defined.
  virtual const std::string& domain_objection() const = 0;
  /// Exponents, radicands and denominators at different indices are different functions of inputs
  /// of their own (the families of Theorem S).
  virtual bool families_are_disjoint() const = 0;
  virtual std::vector<std::string> uninterpreted() const = 0;
};

/// The graphs must outlive the check.
std::unique_ptr<FieldCheck> make_field_check(const ir::Graph& reference,
                                             const ir::Graph& candidate);

}  // namespace mirage::verify
