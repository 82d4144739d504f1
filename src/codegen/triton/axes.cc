#include "codegen/triton/axes.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace mirage::codegen::triton {
namespace {

using ir::Form;
using ir::Op;
using ir::OpKind;
using ir::ValueId;
using lower::Length;
using lower::Lengths;

constexpr int64_t kDotExtent = 16;                // lanes of a product's axes at least
constexpr int64_t kMostSummedProducts = 1 << 15;  // lanes of a product that is not done by tl.dot

int64_t power_of_two(int64_t extent) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, extent))));
}

/// Tiles that may have no element are masked, which takes an axis.
int64_t lanes(const Length& length) {
  const bool is_one = length == Length{};
  return is_one ? 1 : std::max<int64_t>(2, power_of_two(length.max));
}

class Classes {
 public:
  Classes(const ir::Graph& block, const lower::TileLengths& tiles, const std::vector<bool>& is_live)
      : block_(block), tiles_(tiles), is_live_(is_live) {}

  TileAxes run() {
    for (const Lengths& lengths : tiles_.values) {
      std::vector<size_t> mine;
      for (const Length& length : lengths) {
        mine.push_back(parents_.size());
        parents_.push_back(parents_.size());
        sizes_.push_back(lanes(length));
      }
      axes_.push_back(std::move(mine));
    }
    for_each_operator([&](const Op& op, size_t) { unite_axes(op); });
    std::vector<bool> uses_dot(block_.ops.size(), false);
    for_each_operator([&](const Op& op, size_t index) { uses_dot[index] = widen_product(op); });
    while (unite_broadcasts()) {
    }
    return numbered(std::move(uses_dot));
  }

 private:
  template <class Visit>
  void for_each_operator(const Visit& visit) {
    for (size_t i = 0; i < block_.ops.size(); ++i)
      if (is_live_[i]) visit(block_.ops[i], i);
  }

  size_t find(size_t axis) {
    while (parents_[axis] != axis) axis = parents_[axis] = parents_[parents_[axis]];
    return axis;
  }
  bool unite(size_t a, size_t b) {
    a = find(a);
    b = find(b);
    if (a == b) return false;
    sizes_[a] = std::max(sizes_[a], sizes_[b]);
    parents_[b] = a;
    return true;
  }
  int64_t& size(ValueId value, size_t axis) { return sizes_[find(axes_[value.index][axis])]; }
  const Lengths& lengths(ValueId value) const { return tiles_.values[value.index]; }
  size_t rank(ValueId value) const { return lengths(value).size(); }

  /// Visits axes of the operand that is aligned with the result at the last axis but `skip`.
  template <class Visit>
  void aligned(ValueId operand, ValueId result, size_t skip, const Visit& visit) {
    const size_t offset = rank(result) - rank(operand);
    for (size_t i = 0; i + skip < rank(operand); ++i) visit(i, i + offset);
  }

  void unite_equal(ValueId operand, ValueId result, size_t skip) {
    aligned(operand, result, skip, [&](size_t i, size_t j) {
      const bool is_broadcast = lengths(operand)[i] == Length{} && lengths(result)[j] != Length{};
      if (!is_broadcast) unite(axes_[operand.index][i], axes_[result.index][j]);
    });
  }

  void unite_except(ValueId operand, ValueId result, size_t axis) {
    for (size_t i = 0; i < rank(operand); ++i)
      if (i != axis) unite(axes_[operand.index][i], axes_[result.index][i]);
  }

  void unite_axes(const Op& op) {
    const ValueId result = op.results[0];
    const size_t axis = static_cast<size_t>(op.attrs.axis);
    const auto& of = [&](ValueId value, size_t i) { return axes_[value.index][i]; };
    switch (ir::def(op.kind).form) {
      case Form::Map:
        for (ValueId operand : op.operands) unite_equal(operand, result, 0);
        return;
      case Form::Contract: {
        const ValueId lhs = op.operands[0], rhs = op.operands[1];
        const size_t last = rank(result) - 1;
        for (ValueId operand : op.operands) unite_equal(operand, result, 2);
        unite(of(lhs, last - 1), of(result, last - 1));
        unite(of(rhs, last), of(result, last));
        unite(of(lhs, last), of(rhs, last - 1));
        return;
      }
      case Form::Reduce:
        return unite_except(op.operands[0], result, axis);
      case Form::Accum:
        if (op.kind == OpKind::RunningMax || op.kind == OpKind::RunningGauge) {
          unite_except(op.operands[0], result, axis);
          return unite_except(result, op.results[1], rank(result));
        }
        if (op.kind == OpKind::Accum) return unite_except(op.operands[0], result, rank(result));
        for (ValueId operand : op.operands) unite_equal(operand, result, 0);
        return;
      case Form::Move:
        if (op.kind == OpKind::Transpose) {
          for (size_t i = 0; i < rank(result); ++i)
            unite(of(op.operands[0], static_cast<size_t>(op.attrs.ints[i])), of(result, i));
        } else if (op.kind == OpKind::Narrow || op.kind == OpKind::Concat) {
          for (ValueId operand : op.operands) unite_except(operand, result, axis);
        } else if (op.kind == OpKind::Reshape) {
          unite_reshaped(op.operands[0], result);
        }
        return;
      case Form::Leaf:
      case Form::Block:
        return;
    }
  }

  void unite_reshaped(ValueId from, ValueId to) {
    for (const ReshapeGroup& group : reshape_groups(lengths(from), lengths(to)))
      if (group.from.size() == 1 && group.to.size() == 1)
        unite(axes_[from.index][group.from[0]], axes_[to.index][group.to[0]]);
  }

  /// Whether tl.dot does the product; its axes are made long enough.
  bool widen_product(const Op& op) {
    if (op.kind != OpKind::MatMul) return false;
    const ValueId lhs = op.operands[0], rhs = op.operands[1];
    const size_t last = rank(lhs) - 1;
    const int64_t m = size(lhs, last - 1), k = size(lhs, last), n = size(rhs, last);
    if (lengths(lhs)[last] == Length{}) return false;  // an outer product
    const bool is_short = ir::bytes_of(block_.type(lhs).dtype) == 2;
    if (!is_short && (m == 1 || n == 1) && m * k * n <= kMostSummedProducts) return false;
    for (int64_t* extent : {&size(lhs, last - 1), &size(lhs, last), &size(rhs, last)})
      *extent = std::max(*extent, kDotExtent);
    return true;
  }

  /// An axis of one element with several lanes meets a longer one only at the same size.
  bool unite_broadcasts() {
    bool has_changed = false;
    for_each_operator([&](const Op& op, size_t) {
      const bool is_product = ir::def(op.kind).form == Form::Contract;
      if (ir::def(op.kind).form != Form::Map && !is_product && op.kind != OpKind::AccumRescale)
        return;
      for (ValueId operand : op.operands)
        aligned(operand, op.results[0], is_product ? 2 : 0, [&](size_t i, size_t j) {
          if (size(operand, i) > 1)
            has_changed |= unite(axes_[operand.index][i], axes_[op.results[0].index][j]);
        });
    });
    return has_changed;
  }

  TileAxes numbered(std::vector<bool> uses_dot) {
    TileAxes result;
    result.uses_dot = std::move(uses_dot);
    std::vector<size_t> numbers(parents_.size(), SIZE_MAX);
    for (const std::vector<size_t>& axes : axes_) {
      std::vector<size_t> mine;
      for (size_t axis : axes) {
        const size_t root = find(axis);
        if (numbers[root] == SIZE_MAX) {
          numbers[root] = result.sizes.size();
          result.sizes.push_back(sizes_[root]);
        }
        mine.push_back(numbers[root]);
      }
      result.classes.push_back(std::move(mine));
    }
    return result;
  }

  const ir::Graph& block_;
  const lower::TileLengths& tiles_;
  const std::vector<bool>& is_live_;
  std::vector<std::vector<size_t>> axes_;  // by ValueId
  std::vector<size_t> parents_;
  std::vector<int64_t> sizes_;
};

std::vector<size_t> long_axes(const Lengths& lengths) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] != Length{}) axes.push_back(i);
  return axes;
}

}  // namespace

std::vector<ReshapeGroup> reshape_groups(const Lengths& from, const Lengths& to) {
  const std::vector<size_t> ours = long_axes(from), theirs = long_axes(to);
  std::vector<ReshapeGroup> groups;
  size_t i = 0, j = 0;
  while (i < ours.size() || j < theirs.size()) {
    ReshapeGroup group;
    int64_t mine = 1, yours = 1;
    do {
      if (i < ours.size() && (mine <= yours || j == theirs.size())) {
        group.from.push_back(ours[i]);
        mine *= from[ours[i++]].max;
      } else {
        group.to.push_back(theirs[j]);
        yours *= to[theirs[j++]].max;
      }
    } while (mine != yours && (i < ours.size() || j < theirs.size()));
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<bool> TileAxes::kept(ir::ValueId value) const {
  std::vector<bool> result;
  for (size_t axis : classes[value.index]) result.push_back(sizes[axis] > 1);
  return result;
}

std::vector<int64_t> TileAxes::shape(ir::ValueId value) const {
  std::vector<int64_t> result;
  for (size_t axis : classes[value.index])
    if (sizes[axis] > 1) result.push_back(sizes[axis]);
  return result;
}

TileAxes tile_axes(const ir::Graph& block, const lower::TileLengths& tiles,
                   const std::vector<bool>& is_live) {
  return Classes(block, tiles, is_live).run();
}

}  // namespace mirage::codegen::triton
