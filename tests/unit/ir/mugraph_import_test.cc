#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "ir/load_file.h"
#include "ir/text.h"

namespace mirage::ir {
namespace {

std::filesystem::path shared_mugraphs() {
  const char* variable = std::getenv("MIRAGE_SHARED");
  return std::filesystem::path(variable ? variable : MIRAGE_SOURCE_DIR "/../shared") / "data" /
         "mugraphs";
}

struct PublishedFile {
  std::string name;
  size_t graphs;
  std::vector<std::string> inputs;
  std::string output;
};

class Published : public testing::TestWithParam<PublishedFile> {};

TEST_P(Published, ExportGivesTheSameGraphs) {
  const auto path = shared_mugraphs() / (GetParam().name + ".json");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path << ": set MIRAGE_SHARED";
  const auto graphs = load_graphs(path.string(), Epoch::Old);
  ASSERT_TRUE(graphs) << graphs.error().message;
  for (Epoch epoch : {Epoch::Old, Epoch::New}) {
    const auto json = export_mugraphs(*graphs, epoch);
    ASSERT_TRUE(json) << json.error().message;
    const auto again = import_mugraphs(*json, epoch);
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(again->size(), graphs->size());
    for (size_t i = 0; i < graphs->size(); ++i)
      EXPECT_EQ((*again)[i]->hash, (*graphs)[i]->hash) << i;
  }
}

TEST_P(Published, EveryGraphImports) {
  const auto path = shared_mugraphs() / (GetParam().name + ".json");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path << ": set MIRAGE_SHARED";
  const auto graphs = load_graphs(path.string(), Epoch::Old);
  ASSERT_TRUE(graphs) << graphs.error().message;
  EXPECT_EQ(graphs->size(), GetParam().graphs);
  for (const GraphPtr& graph : *graphs) {
    std::vector<std::string> inputs;
    for (ValueId input : graph->inputs) inputs.push_back(to_string(graph->type(input)));
    EXPECT_EQ(inputs, GetParam().inputs);
    ASSERT_EQ(graph->outputs.size(), 1u);
    EXPECT_EQ(to_string(graph->type(graph->outputs[0])), GetParam().output);
    EXPECT_FALSE(graph->outputs_implied);
    const std::string text = print(*graph);
    const auto again = parse(text);
    ASSERT_TRUE(again) << again.error().message << "\n" << text;
    EXPECT_EQ((*again)[0]->hash, graph->hash) << text;
  }
}

const std::vector<std::string> kGqa1 = {"f16[2,256,64]", "f16[2,64,4096]", "f16[2,4096,64]"};

INSTANTIATE_TEST_SUITE_P(
    Files, Published,
    testing::Values(
        PublishedFile{
            "gated_mlp", 32, {"f16[8,4096]", "f16[4096,4096]", "f16[4096,4096]"}, "f16[8,4096]"},
        PublishedFile{"gqa_bs1", 28, kGqa1, "f16[2,256,64]"},
        PublishedFile{"gqa_bs8",
                      10,
                      {"f16[16,256,64]", "f16[16,64,4096]", "f16[16,4096,64]"},
                      "f16[16,256,64]"},
        PublishedFile{"lora",
                      4,
                      {"f16[16,256]", "f16[256,4096]", "f16[256,16]", "f16[16,4096]"},
                      "f16[16,4096]"},
        PublishedFile{"mha_bs1",
                      21,
                      {"f16[32,16,64]", "f16[32,64,4096]", "f16[32,4096,64]"},
                      "f16[32,16,64]"},
        PublishedFile{"mha_bs8",
                      38,
                      {"f16[256,16,64]", "f16[256,64,4096]", "f16[256,4096,64]"},
                      "f16[256,16,64]"},
        PublishedFile{"mqa_bs1",
                      12,
                      {"f16[1,1024,64]", "f16[1,64,4096]", "f16[1,4096,64]"},
                      "f16[1,1024,64]"},
        PublishedFile{
            "ntrans_bs1", 9, {"f16[8,4096]", "f16[8,4096]", "f16[8,4096]"}, "f16[8,4096]"},
        PublishedFile{"qknorm_gqa_bs1", 190, kGqa1, "f16[2,256,64]"},
        PublishedFile{"qwen_norm_linear",
                      88,
                      {"bf16[1,2048]", "bf16[1,2048]", "bf16[2048,2560]"},
                      "bf16[1,2560]"},
        PublishedFile{"rmsnorm_bs1", 18, {"f16[2,4096]", "f16[4096,6144]"}, "f16[2,6144]"},
        PublishedFile{"rmsnorm_bs8", 20, {"f16[16,4096]", "f16[4096,6144]"}, "f16[16,6144]"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(PublishedData, StridesAreKept) {
  const auto path = shared_mugraphs() / "qwen_norm_linear.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path << ": set MIRAGE_SHARED";
  const auto graph = load_graph(path.string() + "#3", Epoch::Old);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ((*graph)->input_strides[2], (Strides{1, 2048}));
  EXPECT_EQ((*graph)->name, "qwen_norm_linear_3");
}

}  // namespace
}  // namespace mirage::ir
