#include "search/search.h"

#include <gtest/gtest.h>

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

TEST(Search, OutsideItsReachIsAReasonNotAnError) {
  Expr e;
  const auto x = e.input({4, 6}, "X");
  ir::Attrs attrs;
  attrs.ints = {24};
  e.op(ir::OpKind::Reshape, {x}, attrs);
  const auto result = search(*e.finish(), {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->structures.empty());
  EXPECT_NE(result->reason.find("reshape"), std::string::npos);
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

}  // namespace
}  // namespace mirage::search
