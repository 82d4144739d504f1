#pragma once
// A whole kernel graph over a domain, with buffers that are kept from run to run.

#include <memory>

#include "interp/block_eval.h"
#include "interp/levels.h"

namespace mirage::interp {

template <class D>
class Evaluator {
 public:
  using V = typename D::Value;

  /// The graph must outlive the evaluator.
  explicit Evaluator(const ir::Graph& graph) : graph_(&graph), env_(graph.values.size()) {
    MIRAGE_CHECK(graph.level == ir::Level::Kernel, "evaluation starts at a kernel graph");
    if constexpr (Leveled<D>) levels_ = needed_levels(graph);
    for (const ir::Op& op : graph.ops) {
      if (!op.body) {
        blocks_.push_back(nullptr);
        continue;
      }
      Levels inner;
      if constexpr (Leveled<D>) {
        Levels outputs;
        for (ir::ValueId result : op.results) outputs.push_back(levels_[result.index]);
        inner = needed_levels(*op.body, outputs);
      }
      blocks_.push_back(std::make_unique<BlockEvaluator<D>>(*op.body, std::move(inner)));
    }
  }

  const ir::Graph& graph() const { return *graph_; }
  /// To be filled before run; shapes must be those of the graph.
  Tensor<V>& input(size_t i) { return env_[graph_->inputs[i].index]; }
  /// Makes every entry of every input, in order: make(number of the input).
  template <class F>
  void fill_inputs(F&& make) {
    for (size_t i = 0; i < graph_->inputs.size(); ++i) {
      reset(input(i), graph_->type(graph_->inputs[i]).shape);
      for (V& entry : input(i).data) entry = make(i);
    }
  }
  const Tensor<V>& output(size_t i) const { return env_[graph_->outputs[i].index]; }
  const Tensor<V>& value(ir::ValueId id) const { return env_[id.index]; }
  /// Residue levels that an input must carry.
  int input_levels(size_t i) const {
    return levels_.empty() ? 1 : levels_[graph_->inputs[i].index];
  }

  Result<void> run(D& d) {
    for (size_t i = 0; i < graph_->ops.size(); ++i) {
      const ir::Op& op = graph_->ops[i];
      if (op.body) {
        MIRAGE_TRY_VOID(run_block(d, op, *blocks_[i]));
        continue;
      }
      if constexpr (Leveled<D>) d.set_levels(levels_[op.results[0].index]);
      operands_.clear();
      for (ir::ValueId operand : op.operands)
        operands_.push_back({&env_[operand.index], &graph_->type(operand).shape});
      MIRAGE_TRY_VOID(eval_op(d, op, std::span<const Operand<V>>(operands_),
                              graph_->type(op.results[0]).shape, env_[op.results[0].index]));
    }
    return {};
  }

 private:
  Result<void> run_block(D& d, const ir::Op& op, BlockEvaluator<D>& block) {
    for (ir::ValueId result : op.results) reset(env_[result.index], graph_->type(result).shape);
    const auto gather = [&](size_t input, std::span<const int64_t> start,
                            Tensor<V>& tile) -> Result<void> {
      copy_box(env_[op.operands[input].index], start, tile);
      return {};
    };
    const auto scatter = [&](size_t output, std::span<const int64_t> start,
                             const Tensor<V>& tile) -> Result<void> {
      write_box(tile, start, env_[op.results[output].index]);
      return {};
    };
    for (int64_t point = 0; point < block.points(); ++point)
      MIRAGE_TRY_VOID(block.run(d, point, gather, scatter));
    return {};
  }

  const ir::Graph* graph_;
  Levels levels_;
  std::vector<Tensor<V>> env_;                              // by ValueId
  std::vector<std::unique_ptr<BlockEvaluator<D>>> blocks_;  // by OpId
  std::vector<Operand<V>> operands_;
};

}  // namespace mirage::interp
