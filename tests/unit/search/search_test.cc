#include "search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "search/cost.h"
#include "unit/search/programs.h"

namespace mirage::search {
namespace {

TEST(Search, EveryProgramHasTheFusedKernel) {
  for (const Program& program : programs()) {
    SCOPED_TRACE(program.name);
    const auto result = search(*program.build(), {});
    ASSERT_TRUE(result);
    ASSERT_FALSE(result->structures.empty()) << result->reason;
    for (const Structure& structure : result->structures) {
      const auto best = schedules(structure, {}, 1);
      ASSERT_EQ(best.size(), 1u);
      const auto graph = structure.instantiate(best[0].trips);
      ASSERT_TRUE(graph) << structure.describe() << ": " << graph.error().message;
      ASSERT_EQ((*graph)->ops.size(), 1u);
      EXPECT_EQ((*graph)->ops[0].kind, ir::OpKind::Block);
    }
  }
}

TEST(Search, RootsOfSumsInsideSumsAreFactors) {
  // sum_k x[m,k] w[k,n] / sqrt(mean_n w[k,n]^2): each term has a root of a sum of its own.
  Expr e;
  const auto x = e.input({4, 6}, "X"), w = e.input({6, 8}, "W");
  e.matmul(x, e.rms_norm(w));
  const auto result = search(*e.finish(), {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(std::any_of(result->structures.begin(), result->structures.end(), [](const auto& s) {
    return s.describe().starts_with("grid{m} loop{k}");
  }));
}

TEST(Search, RaggedTripsMakeTiles) {
  Expr e;
  const auto x = e.input({7, 13}, "X"), w = e.input({13, 11}, "W");
  e.matmul(x, w);
  const auto result = search(*e.finish(), {});
  ASSERT_TRUE(result);
  for (const Structure& structure : result->structures) {
    std::vector<int64_t> trips;
    for (const StructureAxis& axis : structure.axes)
      trips.push_back(fit_trips(*structure.problem, axis, 4));
    const auto graph = structure.instantiate(trips);
    ASSERT_TRUE(graph) << structure.describe() << ": " << graph.error().message;
  }
}

TEST(Search, ViewsOfInputsAreOperandsOfTheKernel) {
  for (const Program& program : view_programs()) {
    SCOPED_TRACE(program.name);
    const ir::GraphPtr original = program.build();
    const auto result = search(*original, {});
    ASSERT_TRUE(result);
    ASSERT_FALSE(result->structures.empty()) << result->reason;
    for (const Structure& structure : result->structures) {
      const auto graph = structure.instantiate(schedules(structure, {}, 1)[0].trips);
      ASSERT_TRUE(graph) << structure.describe() << ": " << graph.error().message;
      ASSERT_EQ((*graph)->inputs.size(), original->inputs.size());
      EXPECT_EQ((*graph)->ops.back().kind, ir::OpKind::Block);
      for (size_t i = 0; i + 1 < (*graph)->ops.size(); ++i)
        EXPECT_TRUE((*graph)->ops[i].kind == ir::OpKind::Narrow ||
                    (*graph)->ops[i].kind == ir::OpKind::Reshape);
    }
  }
}

TEST(Search, OutsideItsReachIsAReasonNotAnError) {
  const auto reason_of = [](Expr& e) {
    const auto result = search(*e.finish(), {});
    EXPECT_TRUE(result && result->structures.empty());
    return result ? result->reason : "";
  };
  {
    Expr e;
    e.reshape(e.exp(e.input({4, 6}, "X")), {24});
    EXPECT_NE(reason_of(e).find("reshape"), std::string::npos);
  }
  {
    Expr e;
    e.narrow(e.exp(e.input({4, 6}, "X")), 1, 0, 2);
    EXPECT_NE(reason_of(e).find("narrow"), std::string::npos);
  }
  {
    Expr e;
    e.narrow(e.input({4, 6}, "X"), 1, 0, 2);
    EXPECT_EQ(reason_of(e), "search: every output is an input or a view of one");
  }
}

TEST(Search, ProgramsOfThousandsOfOperatorsAreLeftAsTheyAre) {
  Expr e;
  ir::ValueId value = e.input({4, 8}, "X");
  for (int i = 0; i < 3000; ++i) value = e.exp(value);
  const auto result = search(*e.finish(), {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->structures.empty());
  EXPECT_EQ(result->stats.stop, Stop::NodeLimit);
  EXPECT_EQ(result->reason,
            "search: the program has 3001 values, more than the 2000 of the search");
}

TEST(Search, OutputsMayRepeatBeInputsOrIntermediates) {
  Expr e;
  const auto x = e.input({4, 6}, "X"), w = e.input({6, 8}, "W");
  e.input({3}, "unused");
  const auto s = e.exp(x);
  const auto y = e.matmul(s, w);
  const auto graph = e.finish({y, x, s, y});
  const auto result = search(*graph, {});
  ASSERT_TRUE(result);
  ASSERT_FALSE(result->structures.empty());
  for (const Structure& structure : result->structures) {
    const auto made = structure.instantiate(std::vector<int64_t>(structure.axes.size(), 2));
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_EQ((*made)->outputs.size(), 4u);
    EXPECT_EQ((*made)->outputs[0], (*made)->outputs[3]);
    EXPECT_EQ((*made)->outputs[1], (*made)->inputs[0]);
    EXPECT_EQ((*made)->inputs.size(), 3u);
  }
}

std::vector<Hash128> hashes(const SearchResult& result) {
  std::vector<Hash128> all;
  for (const Structure& structure : result.structures)
    all.push_back(
        structure.instantiate(std::vector<int64_t>(structure.axes.size(), 1)).value()->hash);
  return all;
}

TEST(Search, SameResultForAnyNumberOfThreads) {
  for (const Program& program : programs()) {
    SearchOptions options;
    const auto one = search(*program.build(), options);
    options.threads = 4;
    const auto four = search(*program.build(), options);
    ASSERT_TRUE(one && four);
    EXPECT_EQ(hashes(*one), hashes(*four)) << program.name;
  }
}

TEST(Search, WithoutTimeTheProgramsOwnOperatorsRemain) {
  SearchOptions options;
  options.time_limit_seconds = 0;
  for (const Program& program : programs()) {
    const auto result = search(*program.build(), options);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->stats.stop, Stop::TimeLimit);
    EXPECT_FALSE(result->structures.empty()) << program.name;
  }
}

TEST(Search, CancelledSearchReturns) {
  const std::atomic<bool> cancel = true;
  SearchOptions options;
  options.cancel = &cancel;
  const auto result = search(*programs()[0].build(), options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->stats.stop, Stop::Cancelled);
}

TEST(Search, NoNewDifferencesUnlessAsked) {
  for (const Program& program : programs()) {
    if (program.name != "layernorm_linear") continue;
    const auto has_new = [](const Structure& structure) {
      const auto& steps = structure.plan.steps;
      return std::any_of(steps.begin(), steps.end(),
                         [](const Step& step) { return step.is_new_difference; });
    };
    SearchOptions options;
    const auto safe = search(*program.build(), options);
    ASSERT_FALSE(safe->structures.empty());
    EXPECT_TRUE(std::none_of(safe->structures.begin(), safe->structures.end(), has_new));
    options.new_differences = true;
    const auto all = search(*program.build(), options);
    EXPECT_TRUE(std::any_of(all->structures.begin(), all->structures.end(), has_new));
  }
}

TEST(Search, InputsMayBeReducedBeforeTheLoopThatWalksThem) {
  // softmax(q rms_norm(k)) v: the norm of K runs over the sequence, which the loop walks.
  const auto result = search(*attention_like(2, 8, 4, 16, 3), {});
  ASSERT_TRUE(result);
  const auto is_wanted = [](const Structure& s) {
    return s.describe().starts_with("grid{b,m} loop{r}");
  };
  const auto at = std::find_if(result->structures.begin(), result->structures.end(), is_wanted);
  ASSERT_NE(at, result->structures.end());
  const auto graph = at->instantiate({2, 2, 4});
  ASSERT_TRUE(graph) << graph.error().message;
  // K is loaded twice: with the loop's axis and without.
  size_t loads = 0;
  for (const ir::Op& op : (*graph)->ops[0].body->ops) loads += op.kind == ir::OpKind::Load ? 1 : 0;
  EXPECT_EQ(loads, 4u);
}

TEST(Search, OddPrograms) {
  std::vector<ir::GraphPtr> odd;
  {
    Expr e;  // a scalar result of constants beside a tensor
    const auto x = e.input({4}, "x");
    const auto c = e.sqrt(e.constant(2));
    odd.push_back(e.finish({e.exp(x), c}));
  }
  {
    Expr e;  // an infinite literal
    odd.push_back(
        (e.op(ir::OpKind::Maximum, {e.input({4, 4}, "x"), e.constant(-INFINITY)}), e.finish()));
  }
  {
    Expr e;  // one class twice
    const auto x = e.input({4, 6}, "x");
    odd.push_back((e.matmul(x, e.transpose(x, {1, 0})), e.finish()));
  }
  {
    Expr e;  // everything of one element
    const auto x = e.input({1, 1}, "x");
    odd.push_back((e.matmul(e.exp(x), x), e.finish()));
  }
  {
    Expr e;  // an empty tensor
    odd.push_back((e.exp(e.input({0, 3}, "x")), e.finish()));
  }
  {
    Expr e;  // always undefined
    const auto x = e.input({4}, "x");
    odd.push_back((e.sqrt(e.op(ir::OpKind::Neg, {e.square(x)})), e.finish()));
  }
  {
    Expr e;  // outputs without a common axis
    const auto x = e.input({4, 6}, "x"), y = e.input({5, 3}, "y");
    odd.push_back(e.finish({e.exp(x), e.exp(y)}));
  }
  {
    Expr e;  // rank 8, functions without laws
    const auto x = e.input({2, 1, 2, 1, 2, 2, 3, 2}, "x");
    odd.push_back((e.sum(e.op(ir::OpKind::Gelu, {e.op(ir::OpKind::Tanh, {x})}), 4), e.finish()));
  }
  {
    Expr e;
    const auto x = e.input({4, 6}, "x"), y = e.input({4, 6}, "y");
    odd.push_back((e.op(ir::OpKind::Pow, {e.op(ir::OpKind::Log, {x}), y}), e.finish()));
  }
  for (size_t i = 0; i < odd.size(); ++i) {
    SCOPED_TRACE(i);
    const auto result = search(*odd[i], {});
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(!result->structures.empty() || !result->reason.empty());
    for (const Structure& structure : result->structures)
      EXPECT_TRUE(structure.instantiate(schedules(structure, {}, 1)[0].trips));
  }
}

}  // namespace
}  // namespace mirage::search
