#include "search/contains.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "ir/load_file.h"
#include "search/cost.h"
#include "unit/search/programs.h"

namespace mirage::search {
namespace {

std::filesystem::path published() {
  const char* shared = std::getenv("MIRAGE_SHARED");
  const std::filesystem::path root =
      shared ? shared : std::filesystem::path(MIRAGE_SOURCE_DIR) / ".." / "shared";
  return root / "data" / "mugraphs";
}

TEST(Contains, PublishedOneKernelGraphs) {
  if (!std::filesystem::exists(published())) GTEST_SKIP() << "no shared data";
  const struct {
    const char* name;
    size_t one_kernel;
  } files[] = {{"rmsnorm_bs1", 18}, {"rmsnorm_bs8", 20}, {"gated_mlp", 16},
               {"lora", 4},         {"ntrans_bs1", 6},   {"qwen_norm_linear", 88}};
  for (const auto& file : files) {
    SCOPED_TRACE(file.name);
    const auto program =
        ir::load_graph(std::string(MIRAGE_SOURCE_DIR) + "/examples/" + file.name + ".mu");
    ASSERT_TRUE(program) << program.error().message;
    const auto graphs =
        ir::load_graphs((published() / (std::string(file.name) + ".json")).string());
    ASSERT_TRUE(graphs) << graphs.error().message;
    const auto space = search_space(**program, {});
    ASSERT_TRUE(space) << space.error().message;
    size_t yes = 0;
    for (size_t i = 0; i < graphs->size(); ++i) {
      const auto answer = contains(*space, *(*graphs)[i]);
      ASSERT_TRUE(answer) << answer.error().message;
      EXPECT_NE(answer->answer, Containment::No) << "graph " << i << ": " << answer->reason;
      if (answer->answer == Containment::Unsupported) {
        EXPECT_EQ(answer->reason, "not a single graph-defined kernel") << "graph " << i;
      }
      yes += answer->answer == Containment::Yes ? 1 : 0;
    }
    EXPECT_EQ(yes, file.one_kernel);
  }
}

TEST(Contains, EveryInstantiatedStructure) {
  for (const Program& program : programs()) {
    SCOPED_TRACE(program.name);
    const auto graph = program.build();
    const auto space = search_space(*graph, {});
    ASSERT_TRUE(space);
    EXPECT_GT(space->stats.seconds, 0);
    const auto result = search(*graph, {});
    for (const Structure& structure : result->structures) {
      const auto made = structure.instantiate(schedules(structure, {}, 1)[0].trips);
      const auto answer = contains(*space, **made);
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->answer, Containment::Yes) << structure.describe() << ": " << answer->reason;
    }
  }
}

ir::GraphPtr loop_kernel(bool wrong) {
  ir::GraphBuilder block =
      *ir::GraphBuilder::block({{{"n", ir::Role::Grid, 2}, {"k", ir::Role::Loop, 2}}, 0});
  const auto bx = *block.input({ir::DType::F32, {4, 8}}),
             bw = *block.input({ir::DType::F32, {8, 6}});
  ir::Attrs attrs;
  attrs.bind = {{}, {1}};
  const auto tx = *block.add(ir::OpKind::Load, {bx}, attrs);
  attrs.bind = {{1}, {0}};
  const auto tw = *block.add(ir::OpKind::Load, {bw}, attrs);
  auto product = *block.add(ir::OpKind::MatMul, {tx, tw});
  if (wrong) product = *block.add(ir::OpKind::Exp, {product});
  ir::Attrs sum;
  sum.combine = ir::Combine::Sum;
  auto total = *block.add(ir::OpKind::Accum, {product}, sum);
  if (!wrong) total = *block.add(ir::OpKind::Exp, {total});
  attrs.bind = {{}, {0}};
  attrs.ints = {4, 6};
  block.add(ir::OpKind::Store, {total}, attrs).value();
  ir::GraphBuilder kernel;
  const auto kx = *kernel.input({ir::DType::F32, {4, 8}}),
             kw = *kernel.input({ir::DType::F32, {8, 6}});
  const std::vector<ir::ValueId> operands{kx, kw};
  kernel.add_block(*block.finish(), operands).value();
  return *kernel.finish();
}

TEST(Contains, NonlinearFunctionOfAPartialSumIsRefused) {
  Expr e;
  const auto x = e.input({4, 8}, "x"), w = e.input({8, 6}, "w");
  e.exp(e.matmul(x, w));
  const auto program = e.finish();
  EXPECT_EQ(contains(*program, *loop_kernel(false), {})->answer, Containment::Yes);
  const auto answer = contains(*program, *loop_kernel(true), {});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->answer, Containment::No);
  EXPECT_NE(answer->reason.find("exp"), std::string::npos) << answer->reason;
}

TEST(Contains, OtherShapesAreBadInput) {
  Expr e;
  e.exp(e.input({4, 8}, "x"));
  const auto answer = contains(*e.finish(), *loop_kernel(false), {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::BadInput);
}

}  // namespace
}  // namespace mirage::search
