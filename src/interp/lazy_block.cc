#include "interp/lazy_block.h"

#include <algorithm>

#include "interp/eval_op.h"
#include "interp/shapes.h"

namespace mirage::interp {
namespace {

/// The tiles of an axis differ in length.
bool is_ragged(int64_t extent, const std::vector<uint8_t>& axes, const ir::Launch& launch) {
  for (uint8_t axis : axes) {
    if (extent % launch.axes[axis].trips != 0) return true;
    extent /= launch.axes[axis].trips;
  }
  return false;
}

}  // namespace

LazyBlock::LazyBlock(const ir::Graph& body, Ledger& ledger, Read read)
    : body_(body),
      ledger_(ledger),
      read_(std::move(read)),
      phases_(ir::phases_of(body)),
      numbers_(body),
      input_number_(body.values.size(), SIZE_MAX),
      memos_(body.values.size()) {
  for (size_t i = 0; i < body.inputs.size(); ++i) input_number_[body.inputs[i].index] = i;
  for (const ir::Value& value : body.values) counts_.push_back(ir::element_count(value.type.shape));
  for (size_t i = 0; i < body.launch.axes.size(); ++i) {
    const ir::Axis& axis = body.launch.axes[i];
    (axis.role == ir::Role::Loop ? loop_ : grid_).push_back(i);
    if (axis.role == ir::Role::Loop) steps_ *= axis.trips;
  }
  for (const ir::Op& op : body.ops) {
    const bool is_load = op.kind == ir::OpKind::Load;
    if (!is_load && op.kind != ir::OpKind::Store) continue;
    for (size_t i = 0; i < op.attrs.bind.size(); ++i)
      is_ragged_ |= is_ragged(is_load ? body.type(op.operands[0]).shape[i] : op.attrs.ints[i],
                              op.attrs.bind[i], body.launch);
  }
}

WideF64 LazyBlock::entry(size_t result, std::span<const int64_t> position) {
  const ir::Op& store = *body_.def_of(body_.outputs[result]);
  std::vector<int64_t> coordinates(body_.launch.axes.size(), 0);
  int64_t index = 0;
  for (size_t i = 0; i < position.size(); ++i) {
    int64_t rest = position[i], extent = store.attrs.ints[i];
    for (uint8_t axis : store.attrs.bind[i]) {
      const int64_t trips = body_.launch.axes[axis].trips;
      extent = (extent + trips - 1) / trips;
      coordinates[axis] = rest / extent;
      rest %= extent;
    }
    index += rest * numbers_.strides(store.operands[0])[i];
  }
  int64_t point = 0;
  for (size_t axis : grid_) point = point * body_.launch.axes[axis].trips + coordinates[axis];
  Moment& first = moment(point, 0);
  if (ledger_.error) return {};
  return value(store.operands[0], first, index);
}

LazyBlock::Moment& LazyBlock::moment(int64_t point, int64_t step) {
  std::unique_ptr<Moment>& slot = moments_[point * steps_ + step];
  if (slot) return *slot;
  slot = std::make_unique<Moment>();
  Moment& at = *slot;  // stays where it is when others are added
  at.number = point * steps_ + step;
  at.coordinates.assign(body_.launch.axes.size(), 0);
  for (const std::vector<size_t>* axes : {&grid_, &loop_}) {
    int64_t rest = axes == &grid_ ? point : step;
    for (size_t i = axes->size(); i-- > 0;) {
      const int64_t trips = body_.launch.axes[(*axes)[i]].trips;
      at.coordinates[(*axes)[i]] = rest % trips;
      rest /= trips;
    }
  }
  at.origins.assign(body_.values.size(), 0);
  for (const ir::Op& op : body_.ops) {
    if (op.kind != ir::OpKind::Load) continue;
    const ir::Shape& whole = body_.type(op.operands[0]).shape;
    for (size_t i = 0; i < whole.size(); ++i)
      at.origins[op.results[0].index] +=
          tile_at(whole[i], op.attrs.bind[i], body_.launch, at.coordinates).start *
          numbers_.strides(op.operands[0])[i];
  }
  if (is_ragged_)
    if (auto measured = measure(at, step == 0 ? nullptr : &moment(point, 0));
        !measured && !ledger_.error)
      ledger_.error = measured.error();
  return at;
}

/// The extents of all tiles; `first` is the first step where this is a later one.
Result<void> LazyBlock::measure(Moment& at, const Moment* first) {
  at.shapes.resize(body_.values.size());
  for (const ir::Op& op : body_.ops) {
    MIRAGE_TRY(const ir::Shape shape, shape_of(op, at, first));
    for (ir::ValueId id : op.results) at.shapes[id.index] = shape;
  }
  return {};
}

/// By the rules of eval_op and BlockEvaluator.
Result<ir::Shape> LazyBlock::shape_of(const ir::Op& op, const Moment& at,
                                      const Moment* first) const {
  const auto actual = [&](size_t k) -> const ir::Shape& { return at.shapes[op.operands[k].index]; };
  const auto declared = [&](size_t k) -> const ir::Shape& {
    return body_.type(op.operands[k]).shape;
  };
  const auto operand = [&](size_t k) { return OperandShape{&actual(k), &declared(k)}; };
  const ir::Shape& result = body_.type(op.results[0]).shape;
  const size_t axis = static_cast<size_t>(op.attrs.axis);
  const auto joined = [&](size_t rank, size_t trailing) -> Result<ir::Shape> {
    std::vector<OperandShape> operands;
    for (size_t k = 0; k < op.operands.size(); ++k) operands.push_back(operand(k));
    Broadcast plan;
    MIRAGE_TRY_VOID(broadcast(operands, result, rank, trailing, plan));
    return plan.extents;
  };
  const auto bound = [&](const ir::Shape& whole) {
    ir::Shape shape;
    for (size_t i = 0; i < whole.size(); ++i)
      shape.push_back(tile_at(whole[i], op.attrs.bind[i], body_.launch, at.coordinates).length);
    return shape;
  };
  switch (ir::def(op.kind).form) {
    case ir::Form::Leaf:
    case ir::Form::Block:
      return ir::Shape{};
    case ir::Form::Map:
      return joined(result.size(), 0);
    case ir::Form::Reduce: {
      ir::Shape shape = actual(0);
      shape[axis] = 1;
      return shape;
    }
    case ir::Form::Contract: {
      const size_t rank = actual(0).size();
      MIRAGE_TRY(ir::Shape shape, joined(rank - 2, 2));
      if (actual(0)[rank - 1] != actual(1)[rank - 2])
        return unsupported("a short tile ({} elements) is contracted with one of {}",
                           actual(0)[rank - 1], actual(1)[rank - 2]);
      shape.push_back(actual(0)[rank - 2]);
      shape.push_back(actual(1)[rank - 1]);
      return shape;
    }
    case ir::Form::Accum: {
      ir::Shape shape = actual(0);
      if (op.results.size() > 1) shape[axis] = 1;
      const bool rescales = op.kind == ir::OpKind::AccumRescale;
      if (rescales) {
        MIRAGE_TRY_VOID(joined(result.size(), 0));
      }
      if (!first) return shape;
      const ir::Shape& state = first->shapes[op.results[0].index];
      if (rescales && shape != state) return unsupported("accum_rescale of a short tile");
      for (size_t i = 0; i < shape.size(); ++i)
        if (shape[i] > state[i]) return unsupported("accum of a growing tile");
      return state;
    }
    case ir::Form::Move:
      break;
  }
  ir::Shape shape;
  switch (op.kind) {
    case ir::OpKind::Load:
      return bound(declared(0));
    case ir::OpKind::Store: {
      const ir::Shape expected = bound(op.attrs.ints);
      if (expected != actual(0) && !first)
        return unsupported("store: a tile of {}, where {} are stored", ir::to_string(actual(0)),
                           ir::to_string(expected));
      return expected;
    }
    case ir::OpKind::Transpose:
      for (int64_t from : op.attrs.ints) shape.push_back(actual(0)[static_cast<size_t>(from)]);
      return shape;
    case ir::OpKind::Narrow:
      shape = actual(0);
      shape[axis] = std::clamp<int64_t>(shape[axis] - op.attrs.ints[0], 0, op.attrs.ints[1]);
      return shape;
    case ir::OpKind::Concat:
      shape = actual(0);
      for (size_t k = 0; k < op.operands.size(); ++k) {
        for (size_t i = 0; i < shape.size(); ++i)
          if (i != axis && actual(k)[i] != shape[i])
            return unsupported("concat of tiles of different length along axis {}", i);
        if (k + 1 < op.operands.size() && actual(k)[axis] != declared(k)[axis])
          return unsupported("concat after a short tile");
        if (k > 0) shape[axis] += actual(k)[axis];
      }
      return shape;
    default:
      return reshaped(operand(0), result);
  }
}

/// Where a value lives: values that do not depend on the loop exist once for a grid point.
LazyBlock::Moment& LazyBlock::home(ir::ValueId id, Moment& at) {
  if (steps_ == 1 || phases_[id.index] == ir::Phase::InLoop || at.number % steps_ == 0) return at;
  return moment(at.number / steps_, 0);
}

int64_t LazyBlock::extent(const Moment& at, ir::ValueId id, size_t axis) const {
  return (is_ragged_ ? at.shapes[id.index] : body_.type(id).shape)[axis];
}

bool LazyBlock::exists(const Moment& at, ir::ValueId id, int64_t index) const {
  if (!is_ragged_) return true;
  for (size_t i = 0; i < numbers_.strides(id).size(); ++i) {
    if (index / numbers_.strides(id)[i] >= at.shapes[id.index][i]) return false;
    index %= numbers_.strides(id)[i];
  }
  return true;
}

WideF64 LazyBlock::value(ir::ValueId id, Moment& from, int64_t index) {
  Moment& at = home(id, from);
  const ir::Op& op = *body_.def_of(id);
  if (ir::def(op.kind).form == ir::Form::Move) return move(op, id, at, index);
  if (op.kind == ir::OpKind::RunningMax || op.kind == ir::OpKind::RunningGauge)
    return running(op, id, at, index);
  const int64_t key = at.number * counts_[id.index] + index;
  if (const WideF64* known = memos_[id.index].find(key)) return *known;
  if (!ledger_.spend(1)) return {};
  const WideF64 result = compute(id, at, index);
  memos_[id.index].insert(key, result);
  return result;
}

WideF64 LazyBlock::compute(ir::ValueId id, Moment& at, int64_t index) {
  const ir::Op& op = *body_.def_of(id);
  switch (ir::def(op.kind).form) {
    case ir::Form::Leaf: {
      if (op.kind == ir::OpKind::Const) return domain_.constant(op.attrs.scalars[0]);
      const size_t axis = static_cast<size_t>(op.attrs.axis);
      return domain_.count(body_.is_input(op.operands[0])
                               ? body_.type(op.operands[0]).shape[axis]  // the whole operand's
                               : extent(home(op.operands[0], at), op.operands[0], axis));
    }
    case ir::Form::Map: {
      WideF64 args[2];
      for (size_t k = 0; k < op.operands.size(); ++k)
        args[k] = value(op.operands[k], at, numbers_.broadcast(id, index, op.operands[k], 0));
      return ir::eval_map(op.kind, domain_, op.attrs,
                          std::span<const WideF64>(args, op.operands.size()));
    }
    case ir::Form::Contract: {
      const size_t rank = numbers_.strides(op.operands[0]).size();
      const size_t k =
          static_cast<size_t>(extent(home(op.operands[0], at), op.operands[0], rank - 1));
      const auto [line, column] = numbers_.contracted(op, index);
      if (!ledger_.spend(static_cast<int64_t>(k))) return {};
      std::vector<WideF64> terms(2 * k);
      row(op.operands[0], at, line, rank - 1, k, terms.data());
      row(op.operands[1], at, column, rank - 2, k, terms.data() + k);
      return domain_.dot(terms.data(), 1, terms.data() + k, 1, static_cast<int64_t>(k));
    }
    case ir::Form::Reduce: {
      const size_t axis = static_cast<size_t>(op.attrs.axis);
      const ir::ValueId operand = op.operands[0];
      const int64_t first = numbers_.reduced(operand, axis, index);
      const int64_t n = extent(home(operand, at), operand, axis);
      if (!ledger_.spend(n)) return {};
      std::vector<WideF64> terms(static_cast<size_t>(n));
      row(operand, at, first, axis, terms.size(), terms.data());
      return reduce(domain_, op.kind, terms.data(), 1, n);
    }
    case ir::Form::Accum:
      return accumulated(op, at, index);
    case ir::Form::Move:
    case ir::Form::Block:
      break;
  }
  MIRAGE_CHECK(false, "operator does not exist in a block");
  return {};
}

WideF64 LazyBlock::accumulated(const ir::Op& op, Moment& at, int64_t index) {
  const ir::ValueId x = op.operands[0];
  if (!ledger_.spend(steps_)) return {};
  WideF64 state;
  for (int64_t step = 0; step < steps_ && !ledger_.error; ++step) {
    Moment& now = moment(at.number / steps_, step);
    if (ledger_.error || !exists(home(x, now), x, index)) continue;  // what is missing adds nothing
    const WideF64 term = value(x, now, index);
    if (step == 0) {
      state = term;
    } else if (op.kind == ir::OpKind::AccumRescale) {
      const int64_t other = numbers_.broadcast(op.results[0], index, op.operands[1], 0);
      state = domain_.add(domain_.mul(state, value(op.operands[1], now, other)), term);
    } else {
      state = op.attrs.combine == ir::Combine::Max ? domain_.maximum(state, term)
                                                   : domain_.add(state, term);
    }
  }
  return op.kind == ir::OpKind::Accum && op.attrs.combine == ir::Combine::Mean
             ? domain_.div(state, domain_.count(steps_))
             : state;
}

/// The maximum so far, before a gauge replaces infinities.
WideF64 LazyBlock::running_state(const ir::Op& op, Moment& at, int64_t index) {
  const ir::ValueId id = op.results[0], operand = op.operands[0];
  const int64_t point = at.number / steps_, last = at.number % steps_;
  const auto key = [&](int64_t step) {
    return (point * steps_ + step) * counts_[id.index] + index;
  };
  int64_t step = last;
  while (step >= 0 && !memos_[id.index].find(key(step))) --step;
  WideF64 state = step >= 0 ? *memos_[id.index].find(key(step)) : WideF64();
  const size_t axis = static_cast<size_t>(op.attrs.axis);
  const int64_t first = numbers_.reduced(operand, axis, index);
  while (++step <= last && !ledger_.error) {
    Moment& now = moment(point, step);
    if (ledger_.error) break;
    const int64_t n = extent(home(operand, now), operand, axis);
    if (!ledger_.spend(n + 1)) break;
    std::vector<WideF64> terms(static_cast<size_t>(n));
    row(operand, now, first, axis, terms.size(), terms.data());
    const WideF64 own = reduce(domain_, ir::OpKind::Max, terms.data(), 1, n);
    state = step == 0 ? own : domain_.maximum(state, own);
    memos_[id.index].insert(key(step), state);
  }
  return state;
}

WideF64 LazyBlock::running(const ir::Op& op, ir::ValueId id, Moment& at, int64_t index) {
  const auto shift = [&](Moment& now) {
    const WideF64 state = running_state(op, now, index);
    return op.kind == ir::OpKind::RunningGauge ? domain_.gauge(state) : state;
  };
  const WideF64 now = shift(at);
  if (id == op.results[0]) return now;
  if (at.number % steps_ == 0) return domain_.zero();
  return domain_.sub(shift(moment(at.number / steps_, at.number % steps_ - 1)), now);
}

WideF64 LazyBlock::move(const ir::Op& op, ir::ValueId id, Moment& at, int64_t index) {
  if (op.kind == ir::OpKind::Load) {
    WideF64 result;
    read_(input_number_[op.operands[0].index], source(op, id, at, index), 0, 1, &result);
    return result;
  }
  const auto [from, number] = numbers_.moved(op, index);
  return value(from, at, number);
}

int64_t LazyBlock::source(const ir::Op& load, ir::ValueId id, const Moment& at,
                          int64_t index) const {
  int64_t result = at.origins[id.index];
  for (size_t i = 0; i < numbers_.strides(id).size(); ++i) {
    result += index / numbers_.strides(id)[i] * numbers_.strides(load.operands[0])[i];
    index %= numbers_.strides(id)[i];
  }
  return result;
}

void LazyBlock::row(ir::ValueId id, Moment& from, int64_t index, size_t axis, size_t n,
                    WideF64* out) {
  Moment& at = home(id, from);
  const ir::Op& op = *body_.def_of(id);
  if (op.kind == ir::OpKind::Load)
    return read_(input_number_[op.operands[0].index], source(op, id, at, index),
                 numbers_.strides(op.operands[0])[axis], n, out);
  const int64_t step = numbers_.strides(id)[axis];
  for (size_t i = 0; i < n && !ledger_.error; ++i)
    out[i] = value(id, at, index + static_cast<int64_t>(i) * step);
}

}  // namespace mirage::interp
