// Verdicts on published graphs. All graphs are checked by bench/verify_published; here the first of
// each file, and all of the wrong ones' kind that fit into seconds.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "ir/load_file.h"
#include "verify/verify.h"

namespace mirage::verify {
namespace {

std::string shared_file(const std::string& name) {
  const char* shared = std::getenv("MIRAGE_SHARED");
  return std::string(shared ? shared : MIRAGE_SOURCE_DIR "/../shared") + "/data/mugraphs/" + name;
}

ir::GraphPtr program(const std::string& name) {
  auto graph = ir::load_graph(std::string(MIRAGE_SOURCE_DIR "/examples/") + name + ".mu");
  EXPECT_TRUE(graph) << graph.error().message;
  return *graph;
}

struct Case {
  const char* program;
  const char* file;
  ir::Epoch epoch;
};

class Published : public testing::TestWithParam<Case> {};

TEST_P(Published, FirstGraphsAreEquivalent) {
  const Case& c = GetParam();
  const std::string file = shared_file(c.file);
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file << "; set MIRAGE_SHARED";
  const auto graphs = ir::load_graphs(file, c.epoch);
  ASSERT_TRUE(graphs) << graphs.error().message;
  VerifyOptions options;
  options.real_size_work = 0;
  options.use_proof = false;
  for (size_t i = 0; i < std::min<size_t>(graphs->size(), 4); ++i) {
    const auto verdict = verify(*program(c.program), *(*graphs)[i], options);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_TRUE(verdict->is_equivalent() && verdict->all_sizes) << i << ": " << to_string(*verdict);
    EXPECT_LE(verdict->log2_error_bound, -50) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Published,
                         testing::Values(Case{"rmsnorm_bs1", "rmsnorm_bs1.json", ir::Epoch::Old},
                                         Case{"rmsnorm_bs8", "rmsnorm_bs8.json", ir::Epoch::Old},
                                         Case{"lora", "lora.json", ir::Epoch::Old},
                                         Case{"gated_mlp", "gated_mlp.json", ir::Epoch::Old},
                                         Case{"gqa_bs1", "gqa_bs1.json", ir::Epoch::Old},
                                         Case{"gqa_bs8", "gqa_bs8.json", ir::Epoch::Old},
                                         Case{"mqa_bs1", "mqa_bs1.json", ir::Epoch::Old},
                                         Case{"mha_bs1", "mha_bs1.json", ir::Epoch::Old},
                                         Case{"mha_bs8", "mha_bs8.json", ir::Epoch::Old},
                                         Case{"ntrans_bs1", "ntrans_bs1.json", ir::Epoch::Old}),
                         [](const auto& row) { return std::string(row.param.program); });

TEST(PublishedQkNorm, IsDifferentAndSaysThatKIsNotContracted) {
  const std::string file = shared_file("qknorm_gqa_bs1.json");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file << "; set MIRAGE_SHARED";
  const auto graphs = ir::load_graphs(file, ir::Epoch::Old);
  ASSERT_TRUE(graphs) << graphs.error().message;
  for (size_t i = 0; i < graphs->size(); i += 19) {
    const auto verdict = verify(*program("qknorm_qv_bs1"), *(*graphs)[i]);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_EQ(verdict->answer, Answer::Different) << i << ": " << to_string(*verdict);
    ASSERT_TRUE(verdict->witness);
    EXPECT_GT(std::abs(verdict->witness->reference - verdict->witness->candidate),
              verdict->witness->bound);
    EXPECT_NE(verdict->reason.find("k is not contracted"), std::string::npos) << verdict->reason;
  }
}

}  // namespace
}  // namespace mirage::verify
