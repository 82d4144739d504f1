#pragma once
// Index classes of a pair of programs. Every axis of every value is a product of atoms, major first
// (a block's grid and loop axes are atoms of their own); operators make atoms of different axes the
// same class. Shrinking gives each class a small extent. Concatenated axes are sums of parts.

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace mirage::verify {

using AtomId = size_t;
using AxisAtoms = std::vector<AtomId>;  // empty: extent 1

/// Axes of the values of one graph, and of the bodies of its blocks.
struct GraphAtoms {
  std::vector<std::vector<AxisAtoms>> values;       // by ValueId, then axis
  std::vector<AxisAtoms> block_axes;                // of a body: by launch axis
  std::vector<std::unique_ptr<GraphAtoms>> bodies;  // by OpId, null for ordinary operators
};

class Classes {
 public:
  /// Atoms of a kernel graph whose inputs have these axes (empty: fresh ones).
  GraphAtoms analyse(const ir::Graph& graph, const std::vector<std::vector<AxisAtoms>>& inputs);
  void unify(const AxisAtoms& a, const AxisAtoms& b);

  /// The atoms an axis consists of now, as class representatives.
  AxisAtoms resolve(const AxisAtoms& axis) const;
  AtomId find(AtomId atom) const;
  int64_t real_extent(AtomId atom) const { return atoms_[find(atom)].real; }
  bool is_frozen(AtomId atom) const { return atoms_[find(atom)].frozen; }
  bool is_sum(AtomId atom) const { return !atoms_[find(atom)].parts.empty(); }
  /// What a sum consists of, in order; empty for other atoms.
  const std::vector<AxisAtoms>& parts(AtomId atom) const { return atoms_[find(atom)].parts; }
  size_t size() const { return atoms_.size(); }
  /// Reasons why some axes keep their extents.
  const std::vector<std::string>& conflicts() const { return conflicts_; }

  /// Tiles of some split do not fill their axis.
  bool has_ragged_splits() const { return has_ragged_splits_; }

  /// Small extents of representatives of plain classes; those of sums and products follow.
  void set_small(AtomId atom, int64_t extent) { atoms_[find(atom)].small = extent; }
  int64_t small_extent(const AxisAtoms& axis) const;
  /// Start and length of a narrow in the small model.
  std::pair<int64_t, int64_t> small_range(const AxisAtoms& axis, int64_t start,
                                          int64_t length) const;

 private:
  struct Atom {
    int64_t real = 1;
    int64_t small = 0;
    AtomId parent = 0;
    AxisAtoms factors;             // the product it was split into
    std::vector<AxisAtoms> parts;  // the sum it consists of
    bool frozen = false;
  };

  AxisAtoms fresh(int64_t extent);
  bool is_plain(AtomId atom) const;
  void freeze(const AxisAtoms& axis, const std::string& reason);
  void split(AtomId atom, const AxisAtoms& factors);
  void merge(AtomId a, AtomId b);
  /// Makes `offset` a boundary between parts; false if that is impossible.
  bool refine(AtomId atom, int64_t offset);
  int64_t real_product(const AxisAtoms& axis) const;
  /// Axes of the results of an operator.
  std::vector<AxisAtoms> analyse_op(const ir::Graph& graph, const ir::Op& op,
                                    const GraphAtoms& atoms);
  std::vector<AxisAtoms> analyse_move(const ir::Graph& graph, const ir::Op& op,
                                      const GraphAtoms& atoms);
  /// An axis of an elementwise result: unifies the axes of operands that are not repeated along it.
  AxisAtoms broadcast(const ir::Graph& graph, const ir::Op& op, const GraphAtoms& atoms,
                      size_t axis);
  std::vector<AxisAtoms> reshape(const ir::Shape& to, const std::vector<AxisAtoms>& from);
  AxisAtoms narrow(const AxisAtoms& axis, int64_t start, int64_t length);
  AxisAtoms load(const AxisAtoms& axis, int64_t extent, const std::vector<uint8_t>& bind,
                 const ir::Launch& launch, const GraphAtoms& atoms);

  std::vector<Atom> atoms_;
  std::vector<std::string> conflicts_;
  bool has_ragged_splits_ = false;
};

}  // namespace mirage::verify
