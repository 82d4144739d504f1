#pragma once
// Identity of values by evaluation: every value of the search carries its float64 elements at tiny
// extents, for two random choices of the inputs (of both signs, and positive so that roots and
// logarithms are defined). Equal elements are taken for equal values. That decides only what the
// search considers the same node; every structure is proved afterwards by verify.
//
// A sum over a class is multiplied by a random weight of the class, and so is its extent. Every law
// of sums that holds at all sizes still holds, while extents become generic numbers: nothing is
// equal because sqrt(4) is 2.

#include <optional>
#include <span>
#include <vector>

#include "search/problem.h"

namespace mirage::search {

/// Row-major over the sample extents of its dims; first the signed elements, then the positive.
using Sample = std::vector<double>;

class Sampler {
 public:
  Sampler(const Problem& problem, uint64_t seed);

  Sample input(size_t index) const;
  Sample constant(double value) const { return {value, value}; }
  Sample extent(ClassId id) const;
  /// nullopt if no element is defined (not finite) in both choices.
  std::optional<Sample> apply(ir::OpKind kind, const ir::Attrs& attrs,
                              std::span<const Sample* const> args,
                              std::span<const Dims* const> arg_dims, const Dims& result) const;

  /// False if the value is constant along one of its axes.
  bool depends_on_all(const Sample& sample, const Dims& dims) const;
  int64_t extent_of(ClassId id) const { return id == kNoClass ? 1 : extents_[id]; }
  size_t count(const Dims& dims) const;

 private:
  std::vector<Dims> inputs_;
  std::vector<int64_t> extents_;  // by class
  std::vector<double> weights_;   // by class
  uint64_t seed_;
};

/// The largest magnitude in a sample.
double scale_of(const Sample& sample);
/// Equal up to rounding, relative to the scale of one of them.
bool same_sample(const Sample& a, const Sample& b, double scale);

}  // namespace mirage::search
