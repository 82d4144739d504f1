// Equal normal forms mean equal numbers. Random kernel graphs of many small values over few inputs,
// with block operators of random splits; every pair of values whose forms are equal must agree in
// float64. The other direction (equal numbers, different forms) is counted and printed: it is the
// incompleteness of normal forms, not an error.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "algebra/meaning.h"
#include "algebra/prove.h"
#include "interp/interp.h"
#include "ir/builder.h"
#include "ir/text.h"
#include "util/rng.h"

namespace mirage {
namespace {

using ir::GraphBuilder;
using ir::OpKind;
using ir::ValueId;

uint64_t seed() {
  const char* text = std::getenv("MIRAGE_TEST_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 20240607;
}

class RandomGraph {
 public:
  RandomGraph(uint64_t seed, std::vector<int64_t> extents, std::vector<int64_t> trips)
      : rng_(seed), extents_(std::move(extents)), trips_(std::move(trips)) {}

  ir::GraphPtr make(size_t operators) {
    GraphBuilder builder;
    for (int i = 0; i < 3; ++i)
      (void)builder.input({ir::DType::F64, {pick(extents_), pick(extents_)}});
    const auto first = builder.add(OpKind::Neg, {ValueId(size_t{0})});
    for (size_t tries = 0; tries < 20 * operators && builder.draft().ops.size() < operators;
         ++tries) {
      if (rng_.below(4) == 0)
        add_block(builder);
      else
        add_op(builder, builder.draft().values.size());
    }
    auto graph = builder.finish(std::vector<ValueId>{*first});
    return graph ? *graph : nullptr;
  }

 private:
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[rng_.below(from.size())];
  }

  /// One more value over the values so far, or none if the choice does not type-check.
  void add_op(GraphBuilder& builder, size_t values) {
    static const std::vector<OpKind> kOps = {
        OpKind::Exp,     OpKind::Log,     OpKind::Sqrt,   OpKind::Square,    OpKind::Rsqrt,
        OpKind::Neg,     OpKind::Silu,    OpKind::Relu,   OpKind::Add,       OpKind::Add,
        OpKind::Sub,     OpKind::Mul,     OpKind::Mul,    OpKind::Div,       OpKind::Div,
        OpKind::Maximum, OpKind::Minimum, OpKind::Sum,    OpKind::Sum,       OpKind::Mean,
        OpKind::Max,     OpKind::MatMul,  OpKind::MatMul, OpKind::Transpose, OpKind::Reshape,
        OpKind::Concat,  OpKind::Narrow,  OpKind::Extent, OpKind::GaugeMax};
    const OpKind kind = pick(kOps);
    std::vector<ValueId> operands;
    const int arity = ir::def(kind).arity < 0 ? 2 : ir::def(kind).arity;
    for (int i = 0; i < arity; ++i) operands.emplace_back(size_t{rng_.below(values)});
    const ir::Shape shape = builder.type(operands[0]).shape;
    ir::Attrs attrs;
    const size_t rank = shape.size();
    if (rank > 0) attrs.axis = static_cast<int64_t>(rng_.below(rank));
    if (kind == OpKind::Transpose)
      for (size_t i = rank; i-- > 0;) attrs.ints.push_back(static_cast<int64_t>(i));
    if (kind == OpKind::Narrow && rank > 0) {
      const int64_t half = shape[static_cast<size_t>(attrs.axis)] / 2;
      attrs.ints = {rng_.below(2) ? half : 0, half};
      if (half == 0) return;
    }
    if (kind == OpKind::Reshape && rank == 2) {
      attrs.ints =
          rng_.below(2) ? ir::Shape{shape[1], shape[0]} : ir::Shape{shape[0] * shape[1] / 2, 2};
      if (ir::element_count(attrs.ints) != ir::element_count(shape)) return;
    }
    for (ValueId operand : operands)
      if (ir::element_count(builder.type(operand).shape) > 64) return;
    (void)builder.add(kind, operands, attrs);
  }

  ir::Bind random_bind(size_t rank, const ir::Launch& launch, bool with_loops) {
    ir::Bind bind(rank);
    if (rank == 0) return bind;
    for (size_t axis = 0; axis < launch.axes.size(); ++axis) {
      const bool is_loop = launch.axes[axis].role == ir::Role::Loop;
      if (is_loop ? !with_loops || rng_.below(4) == 0 : with_loops && rng_.below(3) == 0) continue;
      bind[rng_.below(rank)].push_back(static_cast<uint8_t>(axis));
    }
    return bind;
  }

  void add_block(GraphBuilder& outer) {
    ir::Launch launch;
    for (size_t i = 0, n = rng_.below(3); i < n; ++i)
      launch.axes.push_back({"g" + std::to_string(i), ir::Role::Grid, pick(trips_)});
    for (size_t i = 0, n = rng_.below(3); i < n; ++i)
      launch.axes.push_back({"l" + std::to_string(i), ir::Role::Loop, pick(trips_)});
    auto body = GraphBuilder::block(launch);
    if (!body) return;
    std::vector<ValueId> operands;
    const size_t count = 1 + rng_.below(2);
    for (size_t i = 0; i < count; ++i) {
      const ValueId operand(size_t{rng_.below(outer.draft().values.size())});
      const size_t rank = outer.type(operand).shape.size();
      if (rank == 0 || !body->input(outer.type(operand))) return;
      operands.push_back(operand);
    }
    for (size_t i = 0; i < count; ++i) {
      ir::Attrs attrs;
      attrs.bind = random_bind(outer.type(operands[i]).shape.size(), launch, true);
      if (!body->add(OpKind::Load, {ValueId(i)}, attrs)) return;
    }
    for (size_t i = 0; i < 3; ++i) add_op(*body, body->draft().values.size());
    for (size_t i = 0, n = 1 + rng_.below(2); i < n; ++i) {
      ir::Attrs attrs;
      attrs.combine = pick(std::vector<ir::Combine>{ir::Combine::Sum, ir::Combine::Sum,
                                                    ir::Combine::Mean, ir::Combine::Max});
      const ValueId x(count + rng_.below(body->draft().values.size() - count));
      (void)body->add(OpKind::Accum, {x}, attrs);
    }
    for (size_t i = 0; i < 2; ++i) add_op(*body, body->draft().values.size());
    for (size_t tries = 0; tries < 4; ++tries) {
      ir::Attrs attrs;
      const size_t values = body->draft().values.size();
      const ValueId x(values - 1 - rng_.below(std::min<size_t>(3, values)));
      attrs.bind = random_bind(body->type(x).shape.size(), launch, false);
      if (!body->add(OpKind::Store, {x}, attrs)) continue;
      auto graph = body->finish();
      if (graph) (void)outer.add_block(*graph, operands);
      return;
    }
  }

  Rng rng_;
  std::vector<int64_t> extents_, trips_;
};

std::vector<interp::TensorF64> random_inputs(const ir::Graph& graph, Rng& rng, bool is_positive) {
  std::vector<interp::TensorF64> inputs;
  for (ValueId input : graph.inputs) {
    inputs.emplace_back(graph.type(input).shape);
    for (double& x : inputs.back().data) x = is_positive ? 0.1 + rng.uniform() : rng.normal() / 2;
  }
  return inputs;
}

enum class Agreement { Same, Different, Unclear };

/// Agreement wherever both are finite and of ordinary size; the root of a rounded zero is 1e-8.
Agreement agreement(const interp::TensorF64& a, const interp::TensorF64& b) {
  bool is_compared = false;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = a.data[i], y = b.data[i];
    const double scale = std::max(std::fabs(x), std::fabs(y));
    if (!(scale < 1e6)) continue;
    if (std::fabs(x - y) > 1e-5 * std::max(scale, 0.1)) return Agreement::Different;
    is_compared = is_compared || scale > 1e-3;
  }
  return is_compared ? Agreement::Same : Agreement::Unclear;
}

std::string differing_entries(const std::vector<std::vector<interp::TensorF64>>& runs, size_t i,
                              size_t j) {
  std::string text;
  for (const auto& values : runs)
    for (size_t e = 0; e < values[i].size(); ++e)
      if (values[i].data[e] != values[j].data[e])
        text += fmt::format("[{}] {} {}\n", e, values[i].data[e], values[j].data[e]);
  return text;
}

struct Counts {
  size_t graphs = 0, values = 0, without_form = 0, equal = 0, missed = 0;
};

void check_graph(const ir::GraphPtr& graph, Rng& rng, Counts& counts) {
  algebra::Arena arena;
  const auto meaning = algebra::meaning_of(arena, *graph);
  if (!meaning) return;  // splits without a common refinement
  std::vector<std::vector<interp::TensorF64>> runs;
  for (const bool is_positive : {true, false}) {
    auto values = interp::evaluate_values(*graph, random_inputs(*graph, rng, is_positive));
    if (!values) return;  // an uneven tile meets one of another length
    runs.push_back(std::move(*values));
  }
  ++counts.graphs;
  for (size_t i = 0; i < graph->values.size(); ++i) {
    const algebra::ValueMeaning& a = meaning->values[i];
    ++counts.values;
    if (!a.form.is_valid()) {
      ++counts.without_form;
      continue;
    }
    for (size_t j = 0; j < i; ++j) {
      const algebra::ValueMeaning& b = meaning->values[j];
      if (!b.form.is_valid() || graph->values[i].type != graph->values[j].type || a.dims != b.dims)
        continue;
      const Agreement first = agreement(runs[0][i], runs[0][j]);
      const Agreement second = agreement(runs[1][i], runs[1][j]);
      if (a.form == b.form) {
        ++counts.equal;
        EXPECT_TRUE(first != Agreement::Different && second != Agreement::Different)
            << "%" << j << " and %" << i << " have the form " << algebra::to_string(arena, a.form)
            << "\n"
            << differing_entries(runs, i, j) << ir::print(*graph);
        if (first == Agreement::Different || second == Agreement::Different) return;
      } else if (first == Agreement::Same && second == Agreement::Same &&
                 !algebra::equal_after_cross_multiplication(arena, a.form, b.form)) {
        ++counts.missed;
        if (std::getenv("MIRAGE_TEST_VERBOSE"))
          std::printf("missed: %s\n    and %s\n", algebra::to_string(arena, a.form).c_str(),
                      algebra::to_string(arena, b.form).c_str());
      }
    }
  }
}

struct Setting {
  const char* name;
  std::vector<int64_t> extents, trips;
  size_t operators;
};

class EqualForms : public ::testing::TestWithParam<Setting> {};

TEST_P(EqualForms, AgreeInNumbers) {
  const char* rounds = std::getenv("MIRAGE_TEST_ROUNDS");
  Rng rng(seed());
  Counts counts;
  for (int i = 0, n = rounds ? std::atoi(rounds) : 150; i < n && !HasFailure(); ++i) {
    const uint64_t graph_seed = rng.next();
    const ir::GraphPtr graph =
        RandomGraph(graph_seed, GetParam().extents, GetParam().trips).make(GetParam().operators);
    ASSERT_TRUE(graph);
    check_graph(graph, rng, counts);
  }
  std::printf("seed %llu: %zu graphs, %zu values (%zu without form), %zu equal pairs, %zu missed\n",
              static_cast<unsigned long long>(seed()), counts.graphs, counts.values,
              counts.without_form, counts.equal, counts.missed);
  EXPECT_GT(counts.equal, 50u);
}

INSTANTIATE_TEST_SUITE_P(Settings, EqualForms,
                         ::testing::Values(Setting{"Aliased", {4}, {2, 4}, 40},
                                           Setting{"PowersOfTwo", {2, 4, 8}, {2, 4}, 40},
                                           Setting{"PowersOfThree", {3, 9}, {3}, 40},
                                           Setting{"Uneven", {5, 4}, {2}, 12}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace mirage
