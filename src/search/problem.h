#pragma once
// What the search is asked: the program's interface and its index classes. A class is one letter of
// the program's einsum notation: every axis of every value belongs to one, found by unifying the
// axes that operators identify; axes of extent 1 belong to none (they broadcast). Slicing a class
// slices every tensor that carries it the same way, so schedules are written over classes.

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "util/result.h"

namespace mirage::search {

using ClassId = uint8_t;
constexpr ClassId kNoClass = 255;  // an axis of extent 1

/// One entry per axis of a value, outermost first.
using Dims = std::vector<ClassId>;

struct IndexClass {
  std::string name;
  int64_t extent = 1;
};

struct Problem {
  ir::Graph original;                // a copy: structures outlive the caller's graph
  ir::Graph program;                 // what is searched: views of inputs are inputs (views.h)
  std::vector<ir::ValueId> sources;  // by input of `program`: the value of `original`
  std::vector<ir::OpId> views;       // operators of `original` that make some of them
  std::vector<IndexClass> classes;
  std::vector<Dims> dims;  // per value of the program
  /// Values to compute, each once; outputs that are inputs are passed through and not listed.
  std::vector<ir::ValueId> targets;

  const Dims& dims_of(ir::ValueId id) const { return dims[id.index]; }
  int64_t extent_of(ClassId id) const { return id == kNoClass ? 1 : classes[id].extent; }
};

using ProblemPtr = std::shared_ptr<const Problem>;

/// Unsupported for operators whose result axes are not axes of their operands (concat, blocks, and
/// of what is no input reshape and narrow), for empty tensors, and where one class would index two
/// axes of a value.
Result<ProblemPtr> problem_of(const ir::Graph& original);

bool contains_class(const Dims& dims, ClassId id);

/// The class over which a contraction or reduction sums or takes the maximum, where its first
/// operand has these dims; kNoClass for an axis of one element, and for other operators.
ClassId reduced_class(ir::OpKind kind, const ir::Attrs& attrs, const Dims& first);

}  // namespace mirage::search
