// The oracle of completeness: block programs of a few operators are enumerated without any pruning
// by meaning, run on numbers tile by tile, and every one that computes the target must be in the
// space of the search. It shares no code with the search: neither normal forms nor phase rules.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "search/contains.h"
#include "unit/search/programs.h"
#include "util/rng.h"

namespace mirage::search {
namespace {

using ir::OpKind;

struct Tensor {
  ir::Shape shape;
  std::vector<double> data;
};

/// A value of one block: a tensor for each loop step (the same one twice if it does not change).
struct BlockValue {
  std::vector<Tensor> steps;
  bool after_loop = false;
};

struct Move {
  OpKind kind;
  size_t a = 0, b = 0;  // operands (positions in the list of values)
  int64_t axis = 0;
};

Tensor map2(OpKind kind, const Tensor& x, const Tensor& y) {
  Tensor out;
  for (size_t i = 0; i < x.shape.size(); ++i) out.shape.push_back(std::max(x.shape[i], y.shape[i]));
  const int64_t rows = out.shape[0], columns = out.shape[1];
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      const auto at = [&](const Tensor& t) {
        const int64_t row = t.shape[0] == 1 ? 0 : r, column = t.shape[1] == 1 ? 0 : c;
        return t.data[static_cast<size_t>(row * t.shape[1] + column)];
      };
      const double a = at(x), b = at(y);
      out.data.push_back(kind == OpKind::Add   ? a + b
                         : kind == OpKind::Sub ? a - b
                         : kind == OpKind::Mul ? a * b
                                               : a / b);
    }
  return out;
}

std::optional<Tensor> applied(const Move& move, const Tensor& x, const Tensor& y) {
  switch (move.kind) {
    case OpKind::Exp:
    case OpKind::Square:
    case OpKind::Sqrt: {
      Tensor out = x;
      for (double& v : out.data)
        v = move.kind == OpKind::Exp    ? std::exp(v)
            : move.kind == OpKind::Sqrt ? std::sqrt(v)
                                        : v * v;
      return out;
    }
    case OpKind::Sum: {
      Tensor out{x.shape, {}};
      out.shape[static_cast<size_t>(move.axis)] = 1;
      out.data.assign(static_cast<size_t>(out.shape[0] * out.shape[1]), 0);
      for (int64_t r = 0; r < x.shape[0]; ++r)
        for (int64_t c = 0; c < x.shape[1]; ++c)
          out.data[static_cast<size_t>(move.axis == 0 ? c : r)] +=
              x.data[static_cast<size_t>(r * x.shape[1] + c)];
      return out;
    }
    case OpKind::MatMul: {
      if (x.shape[1] != y.shape[0]) return std::nullopt;
      Tensor out{{x.shape[0], y.shape[1]}, {}};
      for (int64_t r = 0; r < x.shape[0]; ++r)
        for (int64_t c = 0; c < y.shape[1]; ++c) {
          double sum = 0;
          for (int64_t k = 0; k < x.shape[1]; ++k)
            sum += x.data[static_cast<size_t>(r * x.shape[1] + k)] *
                   y.data[static_cast<size_t>(k * y.shape[1] + c)];
          out.data.push_back(sum);
        }
      return out;
    }
    default:
      for (size_t i = 0; i < 2; ++i)
        if (x.shape[i] != y.shape[i] && x.shape[i] != 1 && y.shape[i] != 1) return std::nullopt;
      return map2(move.kind, x, y);
  }
}

bool same(const Tensor& a, const Tensor& b) {
  if (a.shape != b.shape) return false;
  for (size_t i = 0; i < a.data.size(); ++i)
    if (!(std::abs(a.data[i] - b.data[i]) <= 1e-9 * (1 + std::abs(b.data[i])))) return false;
  return true;
}
bool same(const BlockValue& a, const BlockValue& b) {
  if (a.steps.size() != b.steps.size() || a.after_loop != b.after_loop) return false;
  for (size_t s = 0; s < a.steps.size(); ++s)
    if (!same(a.steps[s], b.steps[s])) return false;
  return true;
}

/// One tiny task: rank-2 inputs, how each axis is bound, the operators to combine.
struct Task {
  std::string name;
  ir::GraphPtr program;
  ir::Launch launch;            // axis 0: grid of 2, axis 1 (if any): loop of 2
  std::vector<ir::Bind> binds;  // per input
  ir::Bind store;
  std::vector<OpKind> ops;
  size_t max_moves;
};

class BruteForce {
 public:
  explicit BruteForce(const Task& task)
      : task_(task), space_(search_space(*task.program, {}).value()) {
    steps_ = task.launch.axes.size() > 1 ? 2 : 1;
  }

  void run() {
    Rng rng(5);
    std::vector<Tensor> inputs;
    for (ir::ValueId input : task_.program->inputs) {
      Tensor t{task_.program->type(input).shape, {}};
      for (int64_t i = 0; i < ir::element_count(t.shape); ++i)
        t.data.push_back(2 * rng.uniform() - 0.7);  // of both signs
      inputs.push_back(std::move(t));
    }
    target_ = tile(whole_result(inputs), task_.store, 0);
    for (size_t i = 0; i < inputs.size(); ++i) {
      BlockValue value;
      bool changes = false;
      for (const auto& axes : task_.binds[i])
        for (uint8_t axis : axes) changes |= axis == 1;
      for (size_t s = 0; s < (changes ? steps_ : 1); ++s)
        value.steps.push_back(tile(inputs[i], task_.binds[i], s));
      values_.push_back(std::move(value));
      uses_.push_back(0);
    }
    extend();
  }

  size_t found = 0, refused = 0;
  std::string first_refusal;

 private:
  Tensor tile(const Tensor& whole, const ir::Bind& bind, size_t step) const {
    int64_t begin[2] = {0, 0}, extent[2] = {whole.shape[0], whole.shape[1]};
    for (size_t d = 0; d < 2; ++d)
      for (uint8_t axis : bind[d]) {
        extent[d] /= 2;
        if (axis == 1) begin[d] += static_cast<int64_t>(step) * extent[d];
      }
    Tensor out{{extent[0], extent[1]}, {}};
    for (int64_t r = 0; r < extent[0]; ++r)
      for (int64_t c = 0; c < extent[1]; ++c)
        out.data.push_back(
            whole.data[static_cast<size_t>((begin[0] + r) * whole.shape[1] + begin[1] + c)]);
    return out;
  }

  Tensor whole_result(const std::vector<Tensor>& inputs) const {
    std::vector<Tensor> values(task_.program->values.size());
    for (size_t i = 0; i < inputs.size(); ++i) values[task_.program->inputs[i].index] = inputs[i];
    for (const ir::Op& op : task_.program->ops) {
      const Move move{op.kind, 0, 0, op.attrs.axis};
      values[op.results[0].index] =
          *applied(move, values[op.operands[0].index], values[op.operands.back().index]);
    }
    return values[task_.program->outputs[0].index];
  }

  std::optional<BlockValue> made(const Move& move) const {
    const BlockValue& x = values_[move.a];
    const BlockValue& y = values_[move.b];
    BlockValue out;
    if (move.kind == OpKind::Accum) {
      if (x.after_loop) return std::nullopt;
      Tensor sum = x.steps[0];
      for (size_t s = 1; s < steps_; ++s) sum = map2(OpKind::Add, sum, x.steps[s % x.steps.size()]);
      return BlockValue{{sum}, true};
    }
    const bool in_loop = x.steps.size() > 1 || y.steps.size() > 1;
    out.after_loop = x.after_loop || y.after_loop;
    if (in_loop && out.after_loop) return std::nullopt;
    for (size_t s = 0; s < (in_loop ? steps_ : 1); ++s) {
      auto t = applied(move, x.steps[s % x.steps.size()], y.steps[s % y.steps.size()]);
      if (!t) return std::nullopt;
      for (double v : t->data)
        if (!std::isfinite(v)) return std::nullopt;
      out.steps.push_back(std::move(*t));
    }
    return out;
  }

  /// All sequences in which every operator is used and no value is computed twice.
  void extend() {
    const size_t left = task_.max_moves - moves_.size();
    size_t unused = 0;
    for (size_t v = task_.program->inputs.size(); v < values_.size(); ++v) unused += uses_[v] == 0;
    if (!moves_.empty() && unused == 1 && uses_.back() == 0 && values_.back().steps.size() == 1 &&
        same(values_.back().steps[0], target_))
      check();
    if (left == 0 || unused > left + 1) return;
    for (OpKind kind : task_.ops) {
      const bool is_binary = def(kind).arity == 2;
      for (size_t a = 0; a < values_.size(); ++a)
        for (size_t b = is_binary ? 0 : a; b < (is_binary ? values_.size() : a + 1); ++b) {
          if ((kind == OpKind::Add || kind == OpKind::Mul) && a > b) continue;
          for (int64_t axis = 0; axis < (kind == OpKind::Sum ? 2 : 1); ++axis) {
            if (kind == OpKind::Sum && values_[a].steps[0].shape[static_cast<size_t>(axis)] == 1)
              continue;
            try_move({kind, a, b, axis});
          }
        }
    }
  }

  void try_move(const Move& move) {
    // Independent operators in one order only.
    if (!moves_.empty()) {
      const Move& last = moves_.back();
      const size_t newest = values_.size() - 1;
      const auto key = [](const Move& m) { return std::tuple(m.kind, m.a, m.b, m.axis); };
      if (move.a != newest && move.b != newest && key(move) < key(last)) return;
    }
    // Outside what the search promises (docs/search.md): x / x, and dividing by a quotient.
    if (move.kind == OpKind::Div) {
      const size_t inputs = task_.program->inputs.size();
      if (move.a == move.b) return;
      if (move.b >= inputs && moves_[move.b - inputs].kind == OpKind::Div) return;
    }
    auto value = made(move);
    if (!value) return;
    for (const BlockValue& known : values_)
      if (same(known, *value)) return;
    values_.push_back(std::move(*value));
    uses_.push_back(0);
    ++uses_[move.a];
    ++uses_[move.b];
    moves_.push_back(move);
    extend();
    moves_.pop_back();
    --uses_[move.a];
    --uses_[move.b];
    uses_.pop_back();
    values_.pop_back();
  }

  void check() {
    ir::GraphBuilder block = ir::GraphBuilder::block(task_.launch).value();
    ir::GraphBuilder kernel;
    std::vector<ir::ValueId> operands, values;
    for (size_t i = 0; i < task_.program->inputs.size(); ++i) {
      const ir::TensorType type = task_.program->type(task_.program->inputs[i]);
      operands.push_back(kernel.input(type).value());
      ir::Attrs attrs;
      attrs.bind = task_.binds[i];
      values.push_back(block.add(OpKind::Load, {block.input(type).value()}, attrs).value());
    }
    std::string text;
    for (const Move& move : moves_) {
      ir::Attrs attrs;
      attrs.axis = move.axis;
      if (move.kind == OpKind::Accum) attrs.combine = ir::Combine::Sum;
      std::vector<ir::ValueId> args{values[move.a]};
      if (def(move.kind).arity == 2) args.push_back(values[move.b]);
      text += fmt::format(" {}({},{})", def(move.kind).name, move.a, move.b);
      auto value = block.add(move.kind, args, attrs);
      if (!value) return;  // for instance a loop value mixed with one after it
      values.push_back(*value);
    }
    ir::Attrs store;
    store.bind = task_.store;
    store.ints = task_.program->type(task_.program->outputs[0]).shape;
    if (!block.add(OpKind::Store, {values.back()}, store)) return;
    kernel.add_block(block.finish().value(), operands).value();
    const auto answer = contains(space_, *kernel.finish().value()).value();
    ++found;
    if (answer.answer == Containment::Yes) return;
    ++refused;
    if (first_refusal.empty()) first_refusal = text + ": " + answer.reason;
  }

  const Task& task_;
  SearchSpace space_;
  size_t steps_ = 1;
  Tensor target_;
  std::vector<BlockValue> values_;
  std::vector<size_t> uses_;
  std::vector<Move> moves_;
};

ir::Launch grid_only() { return {{{"n", ir::Role::Grid, 2}}, 0}; }
ir::Launch grid_and_loop() { return {{{"n", ir::Role::Grid, 2}, {"k", ir::Role::Loop, 2}}, 0}; }

const ir::Bind kNone = {{}, {}}, kColumns = {{}, {0}}, kRows = {{0}, {}}, kLoopColumns = {{}, {1}},
               kLoopRowsColumns = {{1}, {0}};

TEST(SearchProperty, BruteForceFindsNothingElse) {
  std::vector<Task> tasks;
  {
    Expr e;
    const auto x = e.input({2, 8}, "x"), w = e.input({8, 6}, "w");
    e.div(e.matmul(x, w), e.sum(x));
    tasks.push_back({"normalised product, looped",
                     e.finish(),
                     grid_and_loop(),
                     {kLoopColumns, kLoopRowsColumns},
                     kColumns,
                     {OpKind::MatMul, OpKind::Sum, OpKind::Accum, OpKind::Div, OpKind::Mul},
                     5});
  }
  {
    Expr e;
    const auto x = e.input({6, 5}, "x"), v = e.input({5, 4}, "v");
    e.matmul(e.softmax(x), v);
    tasks.push_back({"softmax times V",
                     e.finish(),
                     grid_only(),
                     {kRows, kNone},
                     kRows,
                     {OpKind::Exp, OpKind::MatMul, OpKind::Sum, OpKind::Div, OpKind::Mul},
                     5});
  }
  {
    Expr e;
    const auto x = e.input({2, 8}, "x"), w = e.input({8, 6}, "w"), a = e.input({8, 3}, "a"),
               b = e.input({3, 6}, "b");
    e.add(e.matmul(x, w), e.matmul(e.matmul(x, a), b));
    tasks.push_back({"low-rank update, looped",
                     e.finish(),
                     grid_and_loop(),
                     {kLoopColumns, kLoopRowsColumns, {{1}, {}}, kColumns},
                     kColumns,
                     {OpKind::MatMul, OpKind::Add, OpKind::Accum},
                     6});
  }
  {
    Expr e;
    const auto x = e.input({6, 5}, "x"), y = e.input({6, 5}, "y");
    e.mul(e.div(x, e.sqrt(e.sum(e.square(x)))), y);
    tasks.push_back({"normalised, gated",
                     e.finish(),
                     grid_only(),
                     {kRows, kRows},
                     kRows,
                     {OpKind::Square, OpKind::Sqrt, OpKind::Sum, OpKind::Div, OpKind::Mul},
                     5});
  }
  for (const Task& task : tasks) {
    SCOPED_TRACE(task.name);
    BruteForce search(task);
    search.run();
    EXPECT_GT(search.found, 0u);
    EXPECT_EQ(search.refused, 0u) << "of " << search.found << "; first:" << search.first_refusal;
    std::printf("%s: %zu block programs\n", task.name.c_str(), search.found);
  }
}

}  // namespace
}  // namespace mirage::search
