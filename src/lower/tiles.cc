#include "lower/tiles.h"

#include <algorithm>

namespace mirage::lower {
namespace {

using ir::Form;
using ir::OpKind;

bool is_one(const Length& length) { return length.max == 1 && length.ragged < 0; }

struct Walker {
  const ir::Graph& block;
  TileLengths result;
  std::vector<std::string> labels;

  Length of_bind(int64_t extent, const std::vector<uint8_t>& axes) {
    int64_t rest = extent;
    bool divides = true;
    for (uint8_t axis : axes) {
      const int64_t trips = block.launch.axes[axis].trips;
      divides = divides && rest % trips == 0;
      rest = (rest + trips - 1) / trips;
    }
    if (divides) return {rest, -1};
    const Ragged wanted{extent, axes};
    auto& all = result.ragged;
    const auto at = std::find(all.begin(), all.end(), wanted);
    const auto index = at - all.begin();
    if (at == all.end()) all.push_back(wanted);
    return {rest, static_cast<int>(index)};
  }

  Lengths of_bind(const ir::Shape& shape, const ir::Bind& bind) {
    Lengths lengths;
    for (size_t i = 0; i < shape.size(); ++i) lengths.push_back(of_bind(shape[i], bind[i]));
    return lengths;
  }

  bool changes_in_loop(const Length& length) const {
    if (length.ragged < 0) return false;
    for (uint8_t axis : result.ragged[static_cast<size_t>(length.ragged)].axes)
      if (block.launch.axes[axis].role == ir::Role::Loop && block.launch.axes[axis].trips > 1)
        return true;
    return false;
  }

  bool depends_on_grid(const Length& length) const {
    for (uint8_t axis : result.ragged[static_cast<size_t>(length.ragged)].axes)
      if (block.launch.axes[axis].role != ir::Role::Loop && block.launch.axes[axis].trips > 1)
        return true;
    return false;
  }

  Result<Length> common(const Length& a, const Length& b, const std::string& label) const {
    if (a == b || is_one(b)) return a;
    if (is_one(a)) return b;
    return unsupported("{}: tiles of {} and {} elements are ragged in different ways", label, a.max,
                       b.max);
  }

  Result<Lengths> of_map(const ir::Op& op, const std::string& label) const {
    Lengths lengths;
    for (ir::ValueId operand : op.operands) {
      const Lengths& other = result.values[operand.index];
      if (other.size() > lengths.size())
        lengths.insert(lengths.begin(), other.size() - lengths.size(), Length{});
      for (size_t i = 0; i < other.size(); ++i) {
        Length& mine = lengths[lengths.size() - other.size() + i];
        MIRAGE_TRY(mine, common(mine, other[i], label));
      }
    }
    return lengths;
  }

  Result<Lengths> of_reshape(const ir::Op& op, const std::string& label) const {
    const Lengths& from = result.values[op.operands[0].index];
    Lengths lengths;
    for (int64_t extent : op.attrs.ints) lengths.push_back({extent, -1});
    if (std::none_of(from.begin(), from.end(), [](const Length& l) { return l.ragged >= 0; }))
      return lengths;
    // Only axes of one element may come and go.
    size_t i = 0;
    for (Length& to : lengths) {
      while (i < from.size() && is_one(from[i]) && to.max != 1) ++i;
      if (is_one(to) && (i == from.size() || !is_one(from[i]))) continue;
      if (i == from.size() || from[i].max != to.max)
        return unsupported("{}: reshapes a ragged tile", label);
      to = from[i++];
    }
    return lengths;
  }

  Result<void> visit(const ir::Op& op, const std::string& label) {
    const auto& operand = [&](size_t i) -> const Lengths& {
      return result.values[op.operands[i].index];
    };
    const auto is_ragged_at = [&](int64_t axis) {
      return operand(0)[static_cast<size_t>(axis)].ragged >= 0;
    };
    Lengths lengths;
    switch (op.kind) {
      case OpKind::Load:
        lengths = of_bind(block.type(op.operands[0]).shape, op.attrs.bind);
        break;
      case OpKind::Store: {
        lengths = of_bind(op.attrs.ints, op.attrs.bind);
        if (lengths != operand(0))
          return unsupported("{}: the tile is ragged in another way than the result", label);
        result.stores[op.results[0].index] = lengths;
        break;
      }
      case OpKind::MatMul: {
        const Lengths &lhs = operand(0), &rhs = operand(1);
        const size_t rank = lhs.size();
        MIRAGE_TRY(Length k, common(lhs[rank - 1], rhs[rank - 2], label));
        if (k != lhs[rank - 1] || k != rhs[rank - 2])
          return unsupported("{}: inner tiles are ragged in different ways", label);
        lengths = lhs;
        for (size_t i = 0; i + 2 < rank; ++i) {
          MIRAGE_TRY(lengths[i], common(lhs[i], rhs[i], label));
        }
        lengths[rank - 1] = rhs[rank - 1];
        break;
      }
      case OpKind::Transpose:
        for (int64_t axis : op.attrs.ints) lengths.push_back(operand(0)[static_cast<size_t>(axis)]);
        break;
      case OpKind::Reshape: {
        MIRAGE_TRY(lengths, of_reshape(op, label));
        break;
      }
      case OpKind::Concat:
        for (size_t i = 0; i < op.operands.size(); ++i)
          if (operand(i)[static_cast<size_t>(op.attrs.axis)].ragged >= 0)
            return unsupported("{}: joins ragged tiles", label);
        lengths = operand(0);
        lengths[static_cast<size_t>(op.attrs.axis)].max =
            block.type(op.results[0]).shape[static_cast<size_t>(op.attrs.axis)];
        break;
      case OpKind::Narrow:
        if (is_ragged_at(op.attrs.axis)) return unsupported("{}: cuts a ragged tile", label);
        lengths = operand(0);
        lengths[static_cast<size_t>(op.attrs.axis)].max = op.attrs.ints[1];
        break;
      default:
        switch (ir::def(op.kind).form) {
          case Form::Leaf:
            break;
          case Form::Map: {
            MIRAGE_TRY(lengths, of_map(op, label));
            break;
          }
          case Form::Reduce:
            lengths = operand(0);
            lengths[static_cast<size_t>(op.attrs.axis)] = Length{};
            break;
          case Form::Accum: {
            if (op.kind == OpKind::AccumRescale) {
              MIRAGE_TRY(lengths, of_map(op, label));
            } else {
              lengths = operand(0);
            }
            if (op.kind == OpKind::RunningMax || op.kind == OpKind::RunningGauge)
              lengths[static_cast<size_t>(op.attrs.axis)] = Length{};
            for (Length& length : lengths) {
              if (!changes_in_loop(length)) continue;
              // The first step's tile is the largest; later ones add to its front.
              if (op.kind != OpKind::Accum || depends_on_grid(length))
                return unsupported("{}: accumulates tiles whose extents change with the loop",
                                   label);
              length.ragged = -1;
            }
            break;
          }
          default:
            return unsupported("{}: no such operator inside a block", label);
        }
    }
    for (ir::ValueId value : op.results) result.values[value.index] = lengths;
    return {};
  }
};

}  // namespace

Result<TileLengths> tile_lengths(const ir::Graph& block) {
  Walker walker{block, {}, {}};
  walker.result.values.resize(block.values.size());
  walker.result.stores.resize(block.values.size());
  for (ir::ValueId input : block.inputs)
    for (int64_t extent : block.type(input).shape)
      walker.result.values[input.index].push_back({extent, -1});
  for (const ir::Op& op : block.ops)
    MIRAGE_TRY_VOID(walker.visit(op, fmt::format("{} %{}", ir::def(op.kind).name,
                                                 op.results.empty() ? 0 : op.results[0].index)));
  return std::move(walker.result);
}

std::vector<AxisStride> tile_moves(const Param& param, const ir::Bind& bind,
                                   const ir::Launch& launch) {
  std::vector<AxisStride> moves;
  for (size_t i = 0; i < param.shape.size(); ++i) {
    int64_t rest = param.shape[i];
    for (uint8_t axis : bind[i]) {
      const int64_t trips = launch.axes[axis].trips;
      rest = (rest + trips - 1) / trips;
      if (trips > 1) moves.push_back({axis, rest * param.strides[i], static_cast<uint8_t>(i)});
    }
  }
  return moves;
}

ir::Strides broadcast_strides(const Lengths& tensor, const ir::Strides& strides,
                              const Lengths& lengths) {
  ir::Strides result(lengths.size(), 0);
  const size_t offset = lengths.size() - tensor.size();
  for (size_t i = 0; i < tensor.size(); ++i)
    if (!is_one(tensor[i])) result[offset + i] = strides[i];
  return result;
}

}  // namespace mirage::lower
