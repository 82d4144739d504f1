#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "ir/load_file.h"
#include "ir/text.h"

namespace mirage::ir {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(MIRAGE_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".mu") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Shape> shapes(const Graph& graph) {
  std::vector<Shape> result;
  for (ValueId id : graph.inputs) result.push_back(graph.type(id).shape);
  for (ValueId id : graph.outputs) result.push_back(graph.type(id).shape);
  return result;
}

class Example : public testing::TestWithParam<std::string> {};

TEST_P(Example, ParsesAndPrints) {
  const auto graph = load_graph(MIRAGE_SOURCE_DIR "/examples/" + GetParam() + ".mu");
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ((*graph)->name, GetParam());
  EXPECT_EQ((*graph)->type((*graph)->inputs[0]).dtype, DType::F32);
  const auto again = parse(print(**graph));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ((*again)[0]->hash, (*graph)->hash);
}

TEST_P(Example, HasTheShapesOfThePublishedFile) {
  const std::string name = GetParam() == "qknorm_qv_bs1" ? "qknorm_gqa_bs1" : GetParam();
  const char* shared = std::getenv("MIRAGE_SHARED");
  const fs::path folder = shared ? fs::path(shared) : fs::path(MIRAGE_SOURCE_DIR "/../shared");
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder << ": set MIRAGE_SHARED";
  const fs::path published = folder / "data" / "mugraphs" / (name + ".json");
  if (!fs::exists(published)) return;  // not among the published programs
  const auto graph = load_graph(MIRAGE_SOURCE_DIR "/examples/" + GetParam() + ".mu");
  const auto reference = load_graph(published.string() + "#0", Epoch::Old);
  ASSERT_TRUE(graph && reference);
  EXPECT_EQ(shapes(**graph), shapes(**reference));
  EXPECT_EQ((*graph)->input_strides, (*reference)->input_strides);
}

INSTANTIATE_TEST_SUITE_P(Files, Example, testing::ValuesIn(example_names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace mirage::ir
