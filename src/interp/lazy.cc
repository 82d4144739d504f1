// Entries on demand: recursion over (value, index) with a memo; entries of block results are
// computed by lazy_block.h, which reads its operands through the same recursion.

#include "interp/element_index.h"
#include "interp/eval_op.h"
#include "interp/interp.h"
#include "interp/lazy_block.h"

namespace mirage::interp {

struct LazyEvaluator::State {
  ir::GraphPtr graph;
  std::span<const TensorF64> tensors;
  InputElement element = nullptr;
  const void* context = nullptr;
  std::vector<Memo> memos;  // by ValueId
  ElementIndex numbers;
  std::vector<size_t> input_number;                // by ValueId
  std::vector<std::unique_ptr<LazyBlock>> blocks;  // by OpId
  Ledger ledger;
  WideDomain domain;

  explicit State(ir::GraphPtr program)
      : graph(std::move(program)),
        memos(graph->values.size()),
        numbers(*graph),
        input_number(graph->values.size(), SIZE_MAX) {
    for (size_t i = 0; i < graph->inputs.size(); ++i) input_number[graph->inputs[i].index] = i;
    for (const ir::Op& op : graph->ops) {
      const auto read = [this, &op](size_t input, int64_t first, int64_t step, size_t n,
                                    WideF64* out) { row(op.operands[input], first, step, n, out); };
      blocks.push_back(op.body ? std::make_unique<LazyBlock>(*op.body, ledger, read) : nullptr);
    }
  }

  WideF64 input(size_t number, int64_t index) const {
    return WideF64(element ? element(context, number, index)
                           : tensors[number].data[static_cast<size_t>(index)]);
  }

  /// Elements first, first + step, ... of a value.
  void row(ir::ValueId id, int64_t first, int64_t step, size_t n, WideF64* out) {
    if (graph->is_input(id)) {
      const size_t number = input_number[id.index];
      for (; n > 0; first += step, --n) *out++ = input(number, first);
      return;
    }
    for (; n > 0 && !ledger.error; first += step, --n) *out++ = at(id, first);
  }

  WideF64 at(ir::ValueId id, int64_t index) {
    if (graph->is_input(id)) return input(input_number[id.index], index);
    const ir::Op& op = *graph->def_of(id);
    if (ir::def(op.kind).form == ir::Form::Move) {
      const auto [from, number] = numbers.moved(op, index);
      return at(from, number);
    }
    if (const WideF64* known = memos[id.index].find(index)) return *known;
    if (!ledger.spend(1)) return {};
    const WideF64 value = compute(op, id, index);
    memos[id.index].insert(index, value);
    return value;
  }

  WideF64 compute(const ir::Op& op, ir::ValueId id, int64_t index) {
    switch (ir::def(op.kind).form) {
      case ir::Form::Leaf:
        if (op.kind == ir::OpKind::Const) return domain.constant(op.attrs.scalars[0]);
        return domain.count(graph->type(op.operands[0]).shape[static_cast<size_t>(op.attrs.axis)]);
      case ir::Form::Map: {
        WideF64 args[2];
        for (size_t k = 0; k < op.operands.size(); ++k)
          args[k] = at(op.operands[k], numbers.broadcast(id, index, op.operands[k], 0));
        return ir::eval_map(op.kind, domain, op.attrs,
                            std::span<const WideF64>(args, op.operands.size()));
      }
      case ir::Form::Contract:
        return contract(op, index);
      case ir::Form::Reduce: {
        const size_t axis = static_cast<size_t>(op.attrs.axis);
        const int64_t n = graph->type(op.operands[0]).shape[axis];
        const int64_t step = numbers.strides(op.operands[0])[axis];
        const int64_t first = numbers.reduced(op.operands[0], axis, index);
        if (!ledger.spend(n)) return {};
        std::vector<WideF64> terms(static_cast<size_t>(n));
        row(op.operands[0], first, step, terms.size(), terms.data());
        return reduce(domain, op.kind, terms.data(), 1, n);
      }
      case ir::Form::Block:
        return block(id, index);
      case ir::Form::Move:
      case ir::Form::Accum:
        break;
    }
    MIRAGE_CHECK(false, "operator does not exist at kernel level");
    return {};
  }

  WideF64 contract(const ir::Op& op, int64_t index) {
    const int64_t k = graph->type(op.operands[0]).shape.back();
    const int64_t n = graph->type(op.results[0]).shape.back();
    const auto [line, column] = numbers.contracted(op, index);
    if (!ledger.spend(k)) return {};
    std::vector<WideF64> terms(static_cast<size_t>(2 * k));
    row(op.operands[0], line, 1, static_cast<size_t>(k), terms.data());
    row(op.operands[1], column, n, static_cast<size_t>(k), terms.data() + k);
    return domain.dot(terms.data(), 1, terms.data() + k, 1, k);
  }

  WideF64 block(ir::ValueId id, int64_t index) {
    std::vector<int64_t> position;
    for (int64_t stride : numbers.strides(id)) {
      position.push_back(index / stride);
      index %= stride;
    }
    return blocks[graph->value(id).def.index]->entry(graph->value(id).result, position);
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
  if (state_->ledger.error) return tl::unexpected(*state_->ledger.error);
  return value.to_double();
}
void LazyEvaluator::set_work_limit(uint64_t operations) { state_->ledger.limit = operations; }
void LazyEvaluator::set_deadline(const Deadline& deadline) { state_->ledger.deadline = deadline; }
uint64_t LazyEvaluator::work() const { return state_->ledger.work; }

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
