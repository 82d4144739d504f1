// Every structure of every program, at trips that divide and at trips that do not, computes what
// the program computes (float64 evaluation of all blocks, steps and ragged tiles).

#include <gtest/gtest.h>

#include <cmath>

#include "algebra/prove.h"
#include "interp/interp.h"
#include "search/search.h"
#include "unit/search/programs.h"
#include "util/rng.h"

namespace mirage::search {
namespace {

constexpr uint64_t kSeed = 20;

std::vector<interp::TensorF64> random_inputs(const ir::Graph& graph, Rng& rng) {
  std::vector<interp::TensorF64> inputs;
  for (ir::ValueId input : graph.inputs) {
    inputs.emplace_back(graph.type(input).shape);
    for (double& x : inputs.back().data) x = rng.normal();
  }
  return inputs;
}

std::vector<Program> tiny_programs() {
  std::vector<Program> all = programs(/*tiny=*/true);
  for (Program& program : view_programs()) all.push_back(std::move(program));
  return all;
}

TEST(SearchProperty, StructuresComputeTheProgram) {
  size_t checked = 0;
  for (const Program& program : tiny_programs()) {
    SCOPED_TRACE(program.name);
    const ir::GraphPtr graph = program.build();
    Rng rng(kSeed);
    const auto inputs = random_inputs(*graph, rng);
    const auto expected = interp::evaluate(*graph, inputs);
    ASSERT_TRUE(expected);
    const auto result = search(*graph, {});
    ASSERT_TRUE(result);
    ASSERT_FALSE(result->structures.empty()) << result->reason;
    for (const Structure& structure : result->structures)
      for (int64_t wanted : {1, 2, 3, 4}) {
        std::vector<int64_t> trips;
        for (const StructureAxis& axis : structure.axes)
          trips.push_back(fit_trips(*structure.problem, axis, wanted));
        const auto made = structure.instantiate(trips);
        ASSERT_TRUE(made) << structure.describe() << ": " << made.error().message;
        const auto actual = interp::evaluate(**made, inputs);
        ASSERT_TRUE(actual) << structure.describe() << ": " << actual.error().message;
        ASSERT_EQ(actual->size(), expected->size());
        for (size_t o = 0; o < actual->size(); ++o)
          for (size_t i = 0; i < (*actual)[o].data.size(); ++i) {
            const double want = (*expected)[o].data[i];
            ASSERT_NEAR((*actual)[o].data[i], want, 1e-9 * (1 + std::abs(want)))
                << structure.describe() << " trips " << wanted << " seed " << kSeed;
          }
        ++checked;
      }
  }
  EXPECT_GT(checked, 500u);
}

/// Normal forms prove every structure equal to its program, at all sizes where nothing is ragged.
/// Not with views: a function of a part is no part of a function to them.
TEST(SearchProperty, StructuresAreProved) {
  size_t proved = 0, total = 0;
  for (const Program& program : programs(/*tiny=*/true)) {
    const ir::GraphPtr graph = program.build();
    const auto result = search(*graph, {});
    ASSERT_TRUE(result);
    for (const Structure& structure : result->structures) {
      std::vector<int64_t> trips;
      for (const StructureAxis& axis : structure.axes)
        trips.push_back(fit_trips(*structure.problem, axis, 2));
      const auto made = structure.instantiate(trips);
      ASSERT_TRUE(made);
      const algebra::Proof proof = algebra::prove_equal(*graph, **made);
      ++total;
      if (proof.scope != algebra::Scope::NotProved)
        ++proved;
      else
        std::printf("%s %s: %s\n", program.name.c_str(), structure.describe().c_str(),
                    proof.reason.c_str());
    }
  }
  EXPECT_EQ(proved, total);
}

}  // namespace
}  // namespace mirage::search
