// What is printed parses to the same graph, and what is exported imports to the same graph.

#include <gtest/gtest.h>

#include "ir/mugraph_json.h"
#include "ir/text.h"
#include "property/random_graph.h"

namespace mirage::ir {
namespace {

constexpr int kGraphs = 3000;

void expect_same_interface(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.inputs.size(), b.inputs.size());
  ASSERT_EQ(a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < a.inputs.size(); ++i) EXPECT_EQ(a.type(a.inputs[i]), b.type(b.inputs[i]));
  for (size_t i = 0; i < a.outputs.size(); ++i)
    EXPECT_EQ(a.type(a.outputs[i]), b.type(b.outputs[i]));
  EXPECT_EQ(a.input_strides, b.input_strides);
  EXPECT_EQ(a.output_strides, b.output_strides);
}

TEST(TextRoundTrip, RandomGraphs) {
  Rng rng(mirage::testing::announced_seed());
  size_t blocks = 0;
  for (int i = 0; i < kGraphs; ++i) {
    const GraphPtr graph = mirage::testing::random_graph(rng);
    for (const Op& op : graph->ops) blocks += op.kind == OpKind::Block;
    const std::string text = print(*graph);
    const auto again = parse(text);
    ASSERT_TRUE(again) << again.error().message << "\n" << text;
    ASSERT_EQ(again->size(), 1u);
    ASSERT_EQ((*again)[0]->hash, graph->hash) << text;
    ASSERT_EQ((*again)[0]->outputs_implied, graph->outputs_implied);
    ASSERT_EQ(print(*(*again)[0]), text);
  }
  EXPECT_GT(blocks, size_t{kGraphs} / 10);  // the generator does make blocks
}

TEST(JsonRoundTrip, RandomGraphs) {
  Rng rng(mirage::testing::announced_seed());
  int exported = 0;
  for (int i = 0; i < kGraphs; ++i) {
    mirage::testing::RandomGraphOptions options;
    options.operators = 3;
    const GraphPtr graph = mirage::testing::random_graph(rng, options);
    for (Epoch epoch : {Epoch::Old, Epoch::New}) {
      const auto json = export_mugraphs(std::span(&graph, 1), epoch);
      if (!json) {
        ASSERT_EQ(json.error().code, Code::Unsupported) << json.error().message;
        continue;
      }
      ++exported;
      const auto first = import_mugraphs(*json, epoch);
      ASSERT_TRUE(first) << first.error().message << "\n" << print(*graph) << *json;
      expect_same_interface(*graph, *(*first)[0]);
      // Export adds accumulators that the format wants, and a sum then moves next to its
      // accumulator; after that nothing changes any more.
      GraphPtr last = (*first)[0];
      for (int turn = 0; turn < 3; ++turn) {
        const auto text = export_mugraphs(std::span(&last, 1), epoch);
        ASSERT_TRUE(text) << text.error().message << "\n" << print(*last);
        const auto next = import_mugraphs(*text, epoch);
        ASSERT_TRUE(next) << next.error().message;
        if (turn == 2) {
          ASSERT_EQ((*next)[0]->hash, last->hash) << print(*last) << *text;
        }
        last = (*next)[0];
      }
    }
  }
  EXPECT_GT(exported, 100);
}

}  // namespace
}  // namespace mirage::ir
