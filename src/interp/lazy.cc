// Entries on demand: recursion over (value, index) with a memo; a block is run for the grid point
// that stores the entry, reading its operands through the same recursion.

#include <unordered_map>

#include "interp/domain_f64.h"
#include "interp/evaluator.h"
#include "interp/interp.h"

namespace mirage::interp {
namespace {

/// Computed elements of one value: dense where that is affordable.
class Memo {
 public:
  explicit Memo(int64_t count) {
    constexpr int64_t kDenseLimit = int64_t{1} << 22;
    if (count <= kDenseLimit) known_.assign(static_cast<size_t>(count), false);
    is_dense_ = count <= kDenseLimit;
  }
  const WideF64* find(int64_t index) const {
    if (is_dense_) {
      const size_t i = static_cast<size_t>(index);
      return known_[i] ? &dense_[i] : nullptr;
    }
    const auto found = sparse_.find(index);
    return found == sparse_.end() ? nullptr : &found->second;
  }
  void insert(int64_t index, const WideF64& value) {
    if (!is_dense_) {
      sparse_.emplace(index, value);
      return;
    }
    if (dense_.empty()) dense_.resize(known_.size());
    known_[static_cast<size_t>(index)] = true;
    dense_[static_cast<size_t>(index)] = value;
  }

 private:
  bool is_dense_ = true;
  std::vector<bool> known_;
  std::vector<WideF64> dense_;
  std::unordered_map<int64_t, WideF64> sparse_;  // looked up only, never iterated
};

struct StoredTile {
  std::vector<int64_t> start;
  Tensor<WideF64> tile;
};

/// Cost of one grid point in units of one element on demand (a dense product is cheaper a term).
uint64_t point_cost(const ir::Graph& body) {
  int64_t steps = 1;
  for (const ir::Axis& axis : body.launch.axes)
    if (axis.role == ir::Role::Loop) steps *= axis.trips;
  uint64_t cost = 1;
  for (const ir::Op& op : body.ops) {
    if (op.kind == ir::OpKind::Store) continue;
    int64_t work = ir::element_count(body.type(op.results[0]).shape);
    if (op.kind == ir::OpKind::MatMul) work *= (body.type(op.operands[0]).shape.back() + 7) / 8;
    if (ir::def(op.kind).form == ir::Form::Reduce)
      work = ir::element_count(body.type(op.operands[0]).shape);
    cost += static_cast<uint64_t>(work * steps);
  }
  return cost;
}

}  // namespace

struct LazyEvaluator::State {
  ir::GraphPtr graph;
  std::span<const TensorF64> tensors;
  InputElement element = nullptr;
  const void* context = nullptr;
  std::vector<Memo> memos;                                          // by ValueId
  std::vector<ir::Strides> strides;                                 // by ValueId, row-major
  std::vector<size_t> input_number;                                 // by ValueId
  std::vector<std::unique_ptr<BlockEvaluator<WideDomain>>> blocks;  // by OpId
  std::vector<std::unordered_map<int64_t, std::vector<StoredTile>>> points;  // by OpId
  uint64_t work = 0;
  uint64_t limit = UINT64_MAX;
  std::optional<Error> error;
  WideDomain domain;

  explicit State(ir::GraphPtr program) : graph(std::move(program)) {
    input_number.assign(graph->values.size(), SIZE_MAX);
    for (size_t i = 0; i < graph->inputs.size(); ++i) input_number[graph->inputs[i].index] = i;
    for (const ir::Value& value : graph->values) {
      memos.emplace_back(ir::element_count(value.type.shape));
      strides.push_back(ir::row_major_strides(value.type.shape));
    }
    points.resize(graph->ops.size());
    for (const ir::Op& op : graph->ops)
      blocks.push_back(op.body ? std::make_unique<BlockEvaluator<WideDomain>>(*op.body, Levels{})
                               : nullptr);
  }

  WideF64 at(ir::ValueId id, int64_t index) {
    if (graph->is_input(id)) {
      const size_t input = input_number[id.index];
      return WideF64(element ? element(context, input, index)
                             : tensors[input].data[static_cast<size_t>(index)]);
    }
    if (const WideF64* known = memos[id.index].find(index)) return *known;
    ++work;
    if (work > limit && !error)
      error = Error{Code::LimitExceeded, "evaluation needs more operations than allowed", {}};
    if (error) return WideF64(std::numeric_limits<double>::quiet_NaN());
    const WideF64 value = compute(id, index);
    memos[id.index].insert(index, value);
    return value;
  }

  WideF64 compute(ir::ValueId id, int64_t index) {
    const ir::Op& op = *graph->def_of(id);
    switch (ir::def(op.kind).form) {
      case ir::Form::Leaf:
        if (op.kind == ir::OpKind::Const) return domain.constant(op.attrs.scalars[0]);
        return domain.count(graph->type(op.operands[0]).shape[static_cast<size_t>(op.attrs.axis)]);
      case ir::Form::Map: {
        WideF64 args[2];
        for (size_t k = 0; k < op.operands.size(); ++k)
          args[k] = at(op.operands[k], broadcast_index(id, index, op.operands[k], 0));
        return ir::eval_map(op.kind, domain, op.attrs,
                            std::span<const WideF64>(args, op.operands.size()));
      }
      case ir::Form::Contract:
        return contract(op, id, index);
      case ir::Form::Reduce: {
        const size_t axis = static_cast<size_t>(op.attrs.axis);
        const int64_t n = graph->type(op.operands[0]).shape[axis];
        const int64_t step = strides[op.operands[0].index][axis];
        // The result has extent 1 along the axis, so that its index splits at the same inner size.
        const int64_t first = index / step * step * n + index % step;
        work += static_cast<uint64_t>(n);
        std::vector<WideF64> row(static_cast<size_t>(n));
        for (int64_t i = 0; i < n; ++i)
          row[static_cast<size_t>(i)] = at(op.operands[0], first + i * step);
        return reduce(domain, op.kind, row.data(), 1, n);
      }
      case ir::Form::Move:
        return move(op, id, index);
      case ir::Form::Block:
        return block(id, index);
      case ir::Form::Accum:
        break;
    }
    MIRAGE_CHECK(false, "operator does not exist at kernel level");
    return {};
  }

  /// Index of `operand` that element `index` of `result` reads; the last `trailing` axes count 0.
  int64_t broadcast_index(ir::ValueId result, int64_t index, ir::ValueId operand, size_t trailing) {
    const ir::Shape& to = graph->type(operand).shape;
    const size_t rank = graph->type(result).shape.size();
    int64_t at_operand = 0;
    for (size_t i = 0; i + trailing < rank; ++i) {
      const int64_t position = index / strides[result.index][i];
      index %= strides[result.index][i];
      if (i + to.size() < rank) continue;
      const size_t axis = i + to.size() - rank;
      if (to[axis] != 1) at_operand += position * strides[operand.index][axis];
    }
    return at_operand;
  }

  WideF64 contract(const ir::Op& op, ir::ValueId id, int64_t index) {
    const ir::Shape& lhs = graph->type(op.operands[0]).shape;
    const int64_t k = lhs.back(), n = graph->type(id).shape.back();
    const int64_t m = lhs[lhs.size() - 2];
    const int64_t row = index / n % m, column = index % n;
    const int64_t a = broadcast_index(id, index, op.operands[0], 2) + row * k;
    const int64_t b = broadcast_index(id, index, op.operands[1], 2) + column;
    WideF64 sum;
    work += static_cast<uint64_t>(k);
    for (int64_t i = 0; i < k; ++i)
      sum = domain.add(sum, domain.mul(at(op.operands[0], a + i), at(op.operands[1], b + i * n)));
    return sum;
  }

  WideF64 move(const ir::Op& op, ir::ValueId id, int64_t index) {
    if (op.kind == ir::OpKind::Reshape) return at(op.operands[0], index);
    const ir::Strides& own = strides[id.index];
    std::vector<int64_t> position;
    for (int64_t stride : own) {
      position.push_back(index / stride);
      index %= stride;
    }
    ir::ValueId operand = op.operands[0];
    if (op.kind == ir::OpKind::Transpose) {
      int64_t from = 0;
      for (size_t i = 0; i < position.size(); ++i)
        from += position[i] * strides[operand.index][static_cast<size_t>(op.attrs.ints[i])];
      return at(operand, from);
    }
    const size_t axis = static_cast<size_t>(op.attrs.axis);
    if (op.kind == ir::OpKind::Narrow) position[axis] += op.attrs.ints[0];
    if (op.kind == ir::OpKind::Concat)
      for (size_t k = 0; position[axis] >= graph->type(op.operands[k]).shape[axis]; ++k) {
        position[axis] -= graph->type(op.operands[k]).shape[axis];
        operand = op.operands[k + 1];
      }
    int64_t from = 0;
    for (size_t i = 0; i < position.size(); ++i) from += position[i] * strides[operand.index][i];
    return at(operand, from);
  }

  WideF64 block(ir::ValueId id, int64_t index) {
    const size_t number = graph->value(id).def.index;
    const ir::Op& op = graph->ops[number];
    const ir::Graph& body = *op.body;
    const size_t result = graph->value(id).result;
    const ir::Op& store = *body.def_of(body.outputs[result]);
    std::vector<int64_t> position, coordinates(body.launch.axes.size(), 0);
    for (size_t i = 0; i < strides[id.index].size(); ++i) {
      position.push_back(index / strides[id.index][i]);
      index %= strides[id.index][i];
      int64_t rest = position[i], extent = store.attrs.ints[i];
      for (uint8_t axis : store.attrs.bind[i]) {
        const int64_t trips = body.launch.axes[axis].trips;
        extent = (extent + trips - 1) / trips;
        coordinates[axis] = rest / extent;
        rest %= extent;
      }
    }
    int64_t point = 0;
    for (size_t axis : blocks[number]->grid())
      point = point * body.launch.axes[axis].trips + coordinates[axis];
    auto found = points[number].find(point);
    if (found == points[number].end()) {
      std::vector<StoredTile> tiles = run_point(op, number, point);
      if (error) return WideF64(std::numeric_limits<double>::quiet_NaN());
      found = points[number].emplace(point, std::move(tiles)).first;
    }
    const StoredTile& stored = found->second[result];
    const ir::Strides own = ir::row_major_strides(stored.tile.shape);
    int64_t at_tile = 0;
    for (size_t i = 0; i < position.size(); ++i)
      at_tile += (position[i] - stored.start[i]) * own[i];
    return stored.tile.data[static_cast<size_t>(at_tile)];
  }

  std::vector<StoredTile> run_point(const ir::Op& op, size_t number, int64_t point) {
    std::vector<StoredTile> tiles(op.results.size());
    work += point_cost(*op.body);
    const auto gather = [&](size_t input, std::span<const int64_t> start,
                            Tensor<WideF64>& tile) -> Result<void> {
      const ir::ValueId operand = op.operands[input];
      size_t next = 0;
      for_box<WideF64>(graph->type(operand).shape, tile.shape, start,
                       [&](int64_t from, int64_t, int64_t n) {
                         for (int64_t i = 0; i < n; ++i) tile.data[next++] = at(operand, from + i);
                       });
      if (error) return tl::unexpected(*error);
      return {};
    };
    const auto scatter = [&](size_t output, std::span<const int64_t> start,
                             const Tensor<WideF64>& tile) -> Result<void> {
      tiles[output] = {{start.begin(), start.end()}, tile};
      return {};
    };
    if (auto result = blocks[number]->run(domain, point, gather, scatter); !result && !error)
      error = result.error();
    return tiles;
  }
};

LazyEvaluator::LazyEvaluator(ir::GraphPtr graph, std::span<const TensorF64> inputs)
    : state_(std::make_unique<State>(std::move(graph))) {
  state_->tensors = inputs;
}
LazyEvaluator::LazyEvaluator(ir::GraphPtr graph, InputElement element, const void* context)
    : state_(std::make_unique<State>(std::move(graph))) {
  state_->element = element;
  state_->context = context;
}
LazyEvaluator::~LazyEvaluator() = default;
LazyEvaluator::LazyEvaluator(LazyEvaluator&&) noexcept = default;
LazyEvaluator& LazyEvaluator::operator=(LazyEvaluator&&) noexcept = default;

Result<double> LazyEvaluator::output(size_t output, int64_t index) {
  if (output >= state_->graph->outputs.size()) return bad_input("output {} does not exist", output);
  const ir::ValueId id = state_->graph->outputs[output];
  if (index < 0 || index >= ir::element_count(state_->graph->type(id).shape))
    return bad_input("output {} has no entry {}", output, index);
  const WideF64 value = state_->at(id, index);
  if (state_->error) return tl::unexpected(*state_->error);
  return value.to_double();
}
void LazyEvaluator::set_work_limit(uint64_t operations) { state_->limit = operations; }
uint64_t LazyEvaluator::work() const { return state_->work; }

Result<std::vector<double>> evaluate_entries(const ir::Graph& graph,
                                             std::span<const TensorF64> inputs, size_t output,
                                             std::span<const int64_t> entries) {
  LazyEvaluator lazy(std::make_shared<const ir::Graph>(graph), inputs);
  std::vector<double> values;
  for (int64_t entry : entries) {
    MIRAGE_TRY(const double value, lazy.output(output, entry));
    values.push_back(value);
  }
  return values;
}

}  // namespace mirage::interp
