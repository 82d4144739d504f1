#pragma once
// One grid point of a block body over a domain: invariant values, then the loop steps with their
// accumulators and running pairs, then what comes after the loop. Buffers are kept between points,
// so that small programs are evaluated without allocation.

#include "interp/eval_op.h"

namespace mirage::interp {

/// Levels of residues each value must carry (finite fields); see levels.h. Empty: no such notion.
using Levels = std::vector<int>;

template <class D>
concept Leveled = requires(D& d) {
  d.set_levels(1);
};

/// Copies the box [start, start + box.shape) of `whole` to or from `box`.
template <class V>
void copy_box(const Tensor<V>& whole, std::span<const int64_t> start, Tensor<V>& box);
template <class V>
void write_box(const Tensor<V>& box, std::span<const int64_t> start, Tensor<V>& whole);

template <class D>
class BlockEvaluator {
 public:
  using V = typename D::Value;

  BlockEvaluator(const ir::Graph& body, Levels levels)
      : body_(&body),
        levels_(std::move(levels)),
        env_(body.values.size()),
        raw_(body.ops.size()),
        point_(body.launch.axes.size(), 0) {
    const std::vector<ir::Phase> phases = ir::phases_of(body);
    for (size_t i = 0; i < body.ops.size(); ++i) {
      const ir::Op& op = body.ops[i];
      if (op.kind == ir::OpKind::Store) {
        after_.push_back(i);
        continue;
      }
      const ir::Phase phase = phases[op.results[0].index];
      if (ir::def(op.kind).form == ir::Form::Accum || phase == ir::Phase::InLoop)
        inside_.push_back(i);
      else
        (phase == ir::Phase::Invariant ? before_ : after_).push_back(i);
    }
    for (size_t i = 0; i < body.launch.axes.size(); ++i) {
      const ir::Axis& axis = body.launch.axes[i];
      (axis.role == ir::Role::Loop ? loop_ : grid_).push_back(i);
      (axis.role == ir::Role::Loop ? steps_ : points_) *= axis.trips;
    }
  }

  const ir::Graph& body() const { return *body_; }
  int64_t points() const { return points_; }
  /// Block axes that are not loops, in order; a point's number is row-major over them.
  const std::vector<size_t>& grid() const { return grid_; }

  /// gather(input, start, tile): fills tile, whose shape is set. scatter(output, start, tile).
  template <class Gather, class Scatter>
  Result<void> run(D& d, int64_t point, Gather&& gather, Scatter&& scatter) {
    for (size_t i = grid_.size(); i-- > 0;) {
      const int64_t trips = body_->launch.axes[grid_[i]].trips;
      point_[grid_[i]] = point % trips;
      point /= trips;
    }
    for (size_t axis : loop_) point_[axis] = 0;
    for (size_t op : before_) MIRAGE_TRY_VOID(step(d, op, 0, gather));
    for (int64_t s = 0; s < steps_; ++s) {
      int64_t rest = s;
      for (size_t i = loop_.size(); i-- > 0;) {
        const int64_t trips = body_->launch.axes[loop_[i]].trips;
        point_[loop_[i]] = rest % trips;
        rest /= trips;
      }
      for (size_t op : inside_) MIRAGE_TRY_VOID(step(d, op, s, gather));
    }
    for (size_t op : inside_) finish(d, body_->ops[op]);
    size_t stored = 0;
    for (size_t op : after_) {
      if (body_->ops[op].kind == ir::OpKind::Store) {
        MIRAGE_TRY_VOID(store(body_->ops[op], stored++, scatter));
      } else {
        MIRAGE_TRY_VOID(step(d, op, 0, gather));
      }
    }
    return {};
  }

 private:
  Tensor<V>& at(ir::ValueId id) { return env_[id.index]; }

  void set_levels(D& d, const ir::Op& op) {
    if constexpr (Leveled<D>) d.set_levels(levels_[op.results[0].index]);
    (void)d, (void)op;
  }

  template <class Gather>
  Result<void> step(D& d, size_t index, int64_t s, Gather&& gather) {
    const ir::Op& op = body_->ops[index];
    set_levels(d, op);
    if (op.kind == ir::OpKind::Load) return load(op, gather);
    if (ir::def(op.kind).form == ir::Form::Accum) return accumulate(d, index, s);
    if (op.kind == ir::OpKind::Extent && body_->is_input(op.operands[0])) {
      const ir::Shape& shape = body_->type(op.operands[0]).shape;  // of the whole operand
      reset(at(op.results[0]), {});
      at(op.results[0]).data[0] = d.count(shape[static_cast<size_t>(op.attrs.axis)]);
      return {};
    }
    operands_.clear();
    for (ir::ValueId operand : op.operands)
      operands_.push_back({&at(operand), &body_->type(operand).shape});
    return eval_op(d, op, std::span<const Operand<V>>(operands_), body_->type(op.results[0]).shape,
                   at(op.results[0]));
  }

  template <class Gather>
  Result<void> load(const ir::Op& op, Gather&& gather) {
    const ir::Shape& whole = body_->type(op.operands[0]).shape;
    start_.resize(whole.size());
    shape_.resize(whole.size());
    for (size_t i = 0; i < whole.size(); ++i) {
      const Tile tile = tile_at(whole[i], op.attrs.bind[i], body_->launch, point_);
      start_[i] = tile.start;
      shape_[i] = tile.length;
    }
    reset(at(op.results[0]), shape_);
    size_t input = 0;
    while (body_->inputs[input] != op.operands[0]) ++input;
    return gather(input, std::span<const int64_t>(start_), at(op.results[0]));
  }

  template <class Scatter>
  Result<void> store(const ir::Op& op, size_t output, Scatter&& scatter) {
    const Tensor<V>& tile = at(op.operands[0]);
    start_.resize(tile.shape.size());
    for (size_t i = 0; i < tile.shape.size(); ++i) {
      const Tile expected = tile_at(op.attrs.ints[i], op.attrs.bind[i], body_->launch, point_);
      if (expected.length != tile.shape[i])
        return unsupported("store: a tile of {} elements along axis {}, where {} are stored",
                           tile.shape[i], i, expected.length);
      start_[i] = expected.start;
    }
    return scatter(output, std::span<const int64_t>(start_), tile);
  }

  Result<void> accumulate(D& d, size_t index, int64_t s) {
    const ir::Op& op = body_->ops[index];
    const Tensor<V>& x = at(op.operands[0]);
    Tensor<V>& state = at(op.results[0]);
    if (op.kind == ir::OpKind::RunningMax || op.kind == ir::OpKind::RunningGauge)
      return running(d, index, s);
    if (s == 0) {
      state = x;
      return {};
    }
    if (op.kind == ir::OpKind::AccumRescale) {
      const Tensor<V>& r = at(op.operands[1]);
      const OperandShape shapes[2] = {{&state.shape, &body_->type(op.results[0]).shape},
                                      {&r.shape, &body_->type(op.operands[1]).shape}};
      Broadcast plan;
      MIRAGE_TRY_VOID(broadcast(shapes, *shapes[0].declared, state.shape.size(), 0, plan));
      if (x.shape != state.shape) return unsupported("accum_rescale of a short tile");
      for_each(plan, 2, [&](int64_t i, int64_t j) {
        V& target = state.data[static_cast<size_t>(i)];
        target =
            d.add(d.mul(target, r.data[static_cast<size_t>(j)]), x.data[static_cast<size_t>(i)]);
      });
      return {};
    }
    const bool is_max = op.attrs.combine == ir::Combine::Max;
    const ir::Strides strides = ir::row_major_strides(state.shape);
    const ir::Strides own = ir::row_major_strides(x.shape);
    Broadcast plan;  // over x, which may be shorter than the state: what is missing adds nothing
    plan.extents = x.shape;
    for (size_t i = 0; i < x.shape.size(); ++i) {
      if (x.shape[i] > state.shape[i]) return unsupported("accum of a growing tile");
      plan.steps[0][i] = strides[i];
      plan.steps[1][i] = own[i];
    }
    for_each(plan, 2, [&](int64_t i, int64_t j) {
      V& target = state.data[static_cast<size_t>(i)];
      const V& value = x.data[static_cast<size_t>(j)];
      target = is_max ? d.maximum(target, value) : d.add(target, value);
    });
    return {};
  }

  Result<void> running(D& d, size_t index, int64_t s) {
    const ir::Op& op = body_->ops[index];
    Tensor<V>& m = at(op.results[0]);
    Tensor<V>& difference = at(op.results[1]);
    const Tensor<V> previous = m;
    const bool is_gauge = op.kind == ir::OpKind::RunningGauge;
    if constexpr (FreshGauges<D>) {
      if (is_gauge) {
        reset(m, reduced_shape(op));
        for (V& value : m.data) value = d.fresh_gauge();
        return subtract(d, previous, m, s, difference);
      }
    }
    Tensor<V>& raw = raw_[index];
    const Tensor<V> raw_previous = raw;
    const ir::Op reduction{ir::OpKind::Max, op.attrs, {}, {}, nullptr};
    MIRAGE_TRY_VOID(eval_reduce(
        d, reduction, Operand<V>{&at(op.operands[0]), &body_->type(op.operands[0]).shape}, raw));
    if (s > 0)
      for (size_t i = 0; i < raw.data.size(); ++i)
        raw.data[i] = d.maximum(raw_previous.data[i], raw.data[i]);
    m = raw;
    if constexpr (!FreshGauges<D>)
      if (is_gauge)
        for (V& value : m.data) value = d.gauge(value);
    return subtract(d, previous, m, s, difference);
  }

  ir::Shape reduced_shape(const ir::Op& op) {
    ir::Shape shape = at(op.operands[0]).shape;
    shape[static_cast<size_t>(op.attrs.axis)] = 1;
    return shape;
  }

  Result<void> subtract(D& d, const Tensor<V>& previous, const Tensor<V>& m, int64_t s,
                        Tensor<V>& difference) {
    reset(difference, m.shape);
    for (size_t i = 0; i < m.data.size(); ++i)
      difference.data[i] = s == 0 ? d.zero() : d.sub(previous.data[i], m.data[i]);
    return {};
  }

  void finish(D& d, const ir::Op& op) {
    if (op.kind != ir::OpKind::Accum || op.attrs.combine != ir::Combine::Mean) return;
    set_levels(d, op);
    const V steps = d.count(steps_);
    for (V& value : at(op.results[0]).data) value = d.div(value, steps);
  }

  const ir::Graph* body_;
  Levels levels_;
  std::vector<Tensor<V>> env_;  // by ValueId
  std::vector<Tensor<V>> raw_;  // by OpId: running maxima before the gauge
  std::vector<int64_t> point_;  // by block axis
  std::vector<size_t> before_, inside_, after_, grid_, loop_;
  int64_t points_ = 1, steps_ = 1;
  std::vector<Operand<V>> operands_;  // scratch
  std::vector<int64_t> start_;
  ir::Shape shape_;
};

template <class V, class Copy>
void for_box(const ir::Shape& whole, const ir::Shape& box, std::span<const int64_t> start,
             Copy&& copy) {
  const size_t rank = box.size();
  if (rank == 0) return copy(0, 0, 1);
  const ir::Strides strides = ir::row_major_strides(whole);
  const ir::Strides own = ir::row_major_strides(box);
  for (int64_t extent : box)
    if (extent == 0) return;
  int64_t from = 0, at = 0;
  for (size_t i = 0; i < rank; ++i) from += start[i] * strides[i];
  Steps index{};
  while (true) {
    copy(from, at, box[rank - 1]);
    size_t axis = rank - 1;
    while (true) {
      if (axis == 0) return;
      --axis;
      from += strides[axis];
      at += own[axis];
      if (++index[axis] < box[axis]) break;
      from -= strides[axis] * box[axis];
      at -= own[axis] * box[axis];
      index[axis] = 0;
    }
  }
}

template <class V>
void copy_box(const Tensor<V>& whole, std::span<const int64_t> start, Tensor<V>& box) {
  for_box<V>(whole.shape, box.shape, start, [&](int64_t from, int64_t at, int64_t n) {
    std::copy_n(whole.data.begin() + from, n, box.data.begin() + at);
  });
}

template <class V>
void write_box(const Tensor<V>& box, std::span<const int64_t> start, Tensor<V>& whole) {
  for_box<V>(whole.shape, box.shape, start, [&](int64_t from, int64_t at, int64_t n) {
    std::copy_n(box.data.begin() + at, n, whole.data.begin() + from);
  });
}

}  // namespace mirage::interp
