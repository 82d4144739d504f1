#include "ir/mugraph_patterns.h"

#include <optional>

namespace mirage::ir::mugraph {
namespace {

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph), uses_(graph.values.size(), 0) {
    for (const Op& op : graph.ops)
      for (ValueId operand : op.operands) ++uses_[operand.index];
    for (ValueId output : graph.outputs) ++uses_[output.index];
    matches_.by_op.assign(graph.ops.size(), -1);
    matches_.is_absorbed.assign(graph.ops.size(), false);
  }

  Matches run() {
    // From the last operator: the largest composition takes its inner operators first.
    for (size_t i = graph_.ops.size(); i-- > 0;) {
      if (matches_.is_absorbed[i]) continue;
      inner_.clear();
      const auto match = match_at(graph_.ops[i]);
      if (!match) continue;
      matches_.by_op[i] = static_cast<int>(matches_.list.size());
      matches_.list.push_back(*match);
      for (OpId op : inner_) matches_.is_absorbed[op.index] = true;
    }
    return std::move(matches_);
  }

 private:
  /// The operator that makes this value, if it is of this kind and the value is read only here.
  const Op* inner(ValueId id, OpKind kind) {
    const Op* op = graph_.def_of(id);
    if (!op || op->kind != kind || uses_[id.index] != 1) return nullptr;
    inner_.push_back(graph_.value(id).def);
    return op;
  }
  bool is_last_axis(const Op& reduce) const {
    return reduce.attrs.axis + 1 ==
           static_cast<int64_t>(graph_.type(reduce.operands[0]).shape.size());
  }

  /// x of mean(square x, last).
  std::optional<ValueId> mean_square(ValueId id) {
    const Op* mean = inner(id, OpKind::Mean);
    if (!mean || !is_last_axis(*mean)) return std::nullopt;
    const Op* square = inner(mean->operands[0], OpKind::Square);
    if (!square) return std::nullopt;
    return square->operands[0];
  }

  std::optional<Match> rms_norm(const Op& div) {
    const Op* root = inner(div.operands[1], OpKind::Sqrt);
    if (!root) return std::nullopt;
    const auto x = mean_square(root->operands[0]);
    if (!x || *x != div.operands[0]) return std::nullopt;
    return Match{Pattern::RmsNorm, *x};
  }

  std::optional<Match> accum_rms(const Op& root) {
    const Op* accum = inner(root.operands[0], OpKind::Accum);
    if (!accum || accum->attrs.combine != Combine::Mean) return std::nullopt;
    const auto x = mean_square(accum->operands[0]);
    if (!x) return std::nullopt;
    return Match{Pattern::AccumRms, *x};
  }

  std::optional<Match> sum_to_dimx(const Op& outer) {
    const Op* sum = inner(outer.operands[0], OpKind::Sum);
    const Op* split = sum ? inner(sum->operands[0], OpKind::Reshape) : nullptr;
    if (!split) return std::nullopt;
    const Shape& from = graph_.type(split->operands[0]).shape;
    const Shape& groups = split->attrs.ints;
    const size_t axis = static_cast<size_t>(sum->attrs.axis);
    if (groups.size() != from.size() + 1 || axis >= from.size()) return std::nullopt;
    Shape merged = groups, result = groups;
    merged[axis] *= merged[axis + 1];
    merged.erase(merged.begin() + sum->attrs.axis + 1);
    result.erase(result.begin() + sum->attrs.axis);
    if (merged != from || outer.attrs.ints != result) return std::nullopt;
    return Match{Pattern::SumToDimx, split->operands[0], sum->attrs.axis, groups[axis + 1]};
  }

  std::optional<Match> accum(const Op& op) {
    const bool is_sum = op.attrs.combine == Combine::Sum;
    if (!is_sum && op.attrs.combine != Combine::Mean) return std::nullopt;
    if (const Op* reduce = inner(op.operands[0], is_sum ? OpKind::Sum : OpKind::Mean))
      return is_last_axis(*reduce)
                 ? std::optional(
                       Match{is_sum ? Pattern::AccumSum : Pattern::AccumMean, reduce->operands[0]})
                 : std::nullopt;
    inner_.clear();
    const Op* outer = is_sum ? inner(op.operands[0], OpKind::Reshape) : nullptr;
    if (!outer) return std::nullopt;
    auto match = sum_to_dimx(*outer);
    if (!match || match->axis + 1 != static_cast<int64_t>(outer->attrs.ints.size()))
      return std::nullopt;
    match->pattern = Pattern::AccumSumToDimx;
    return match;
  }

  std::optional<Match> match_at(const Op& op) {
    switch (op.kind) {
      case OpKind::Div:
        return rms_norm(op);
      case OpKind::Sqrt:
        return accum_rms(op);
      case OpKind::Reshape:
        return sum_to_dimx(op);
      case OpKind::Accum:
        return accum(op);
      case OpKind::AccumRescale: {
        const Op* sum = inner(op.operands[0], OpKind::Sum);
        if (!sum || !is_last_axis(*sum)) return std::nullopt;
        return Match{Pattern::AccumRescaleSum, sum->operands[0]};
      }
      default:
        return std::nullopt;
    }
  }

  const Graph& graph_;
  std::vector<int> uses_;
  std::vector<OpId> inner_;
  Matches matches_;
};

}  // namespace

Matches find_compositions(const Graph& graph) { return Finder(graph).run(); }

}  // namespace mirage::ir::mugraph
