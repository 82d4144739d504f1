#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ir/load_file.h"

namespace mirage::ir {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = MIRAGE_SOURCE_DIR "/tests/data/mugraphs";

struct Case {
  std::string name;
  Epoch epoch;
};

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const char* name : {"attention", "gated_mlp", "lora", "ntrans", "rmsnorm_linear",
                           "online_attention", "reductions"})
    for (Epoch epoch : {Epoch::Old, Epoch::New}) {
      const bool is_new_only = result.size() >= 10;
      if (!is_new_only || epoch == Epoch::New) result.push_back({name, epoch});
    }
  return result;
}

class Corpus : public testing::TestWithParam<Case> {};

TEST_P(Corpus, ExportsAndImports) {
  const auto& [name, epoch] = GetParam();
  const auto graph = load_graph((kFolder / (name + ".mu")).string());
  ASSERT_TRUE(graph) << graph.error().message;
  const std::string file = (kFolder / fmt::format("{}.{}.json", name, name_of(epoch))).string();
  const auto json = export_mugraphs(std::span(&*graph, 1), epoch);
  ASSERT_TRUE(json) << json.error().message;
  if (std::getenv("MIRAGE_UPDATE")) std::ofstream(file) << *json;

  const auto stored = read_text_file(file);
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_TRUE(*stored == *json) << file << " is not what the exporter writes";
  const auto imported = load_graph(file, epoch);
  ASSERT_TRUE(imported) << imported.error().message;
  if (name != "gated_mlp") {
    EXPECT_EQ((*imported)->hash, (*graph)->hash);
  } else {  // an axis of one step is not exported; all else is the same
    ASSERT_EQ((*imported)->ops.size(), (*graph)->ops.size());
    EXPECT_EQ((*imported)->ops[0].body->launch.axes.size(), 2u);
    EXPECT_EQ((*imported)->output_strides, (*graph)->output_strides);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Corpus, testing::ValuesIn(cases()), [](const auto& test) {
  return fmt::format("{}_{}", test.param.name, name_of(test.param.epoch));
});

TEST(CorpusData, EpochsDecideTheCodes) {
  const std::string file = (kFolder / "gated_mlp.new.json").string();
  const auto as_new = load_graph(file, Epoch::New), as_old = load_graph(file, Epoch::Old);
  ASSERT_TRUE(as_new && as_old);
  EXPECT_EQ((*as_new)->type((*as_new)->inputs[0]).dtype, DType::BF16);
  EXPECT_EQ((*as_old)->type((*as_old)->inputs[0]).dtype, DType::F16);
}

TEST(CorpusData, OldEpochLacksTheNewAccumulators) {
  for (const auto& [name, message] :
       {std::pair("online_attention",
                  "graph 0: block %3: running_max %7: the format has no such block operator"),
        std::pair("reductions",
                  "graph 0: block %2: accum %3: the old format has no accumulator red_ld_mean")}) {
    const auto graph = load_graph((kFolder / (std::string(name) + ".mu")).string());
    ASSERT_TRUE(graph) << graph.error().message;
    const auto json = export_mugraphs(std::span(&*graph, 1), Epoch::Old);
    ASSERT_FALSE(json);
    EXPECT_EQ(json.error().code, Code::Unsupported);
    EXPECT_EQ(json.error().message, message);
  }
}

TEST(FileReference, PicksAGraph) {
  const FileRef ref = file_ref("a/b.json#3");
  EXPECT_EQ(ref.path, "a/b.json");
  EXPECT_EQ(ref.index, 3u);
  EXPECT_FALSE(file_ref("a/b.json#x").index);
  const std::string file = (kFolder / "ntrans.old.json").string();
  EXPECT_TRUE(load_graph(file + "#0"));
  const auto missing = load_graph(file + "#1");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::BadInput);
  EXPECT_EQ(missing.error().message, file + ": has 1 graph, there is no #1");
}

TEST(FileReference, Errors) {
  const auto missing = load_graphs("no/such/file.mu");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::Io);
  EXPECT_EQ(missing.error().message, "no/such/file.mu: No such file or directory");
  const auto folder = load_graphs(MIRAGE_SOURCE_DIR "/tests/data/mugraphs");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, Code::BadInput);
  const auto graph = load_graphs((kFolder / "README.md").string());
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message,
            (kFolder / "README.md").string() + ": expected a .mu or .json file");
}

}  // namespace
}  // namespace mirage::ir
