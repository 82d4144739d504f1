// Files with one or more things changed at random: parsing gives a graph or a typed error, never an
// abort, and what is accepted still prints and parses to itself. (The fuzzers search further.)

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ir/load_file.h"
#include "ir/text.h"
#include "property/random_graph.h"

namespace mirage::ir {
namespace {

using Json = nlohmann::json;

constexpr int kMutations = 2000;

std::string corpus_file(const std::string& name) {
  return read_text_file(MIRAGE_SOURCE_DIR "/tests/data/mugraphs/" + name).value();
}

void expect_graph_or_error(const Result<std::vector<GraphPtr>>& graphs, const std::string& input) {
  if (!graphs) {
    const Code code = graphs.error().code;
    ASSERT_TRUE(code == Code::BadInput || code == Code::Unsupported) << input;
    ASSERT_FALSE(graphs.error().message.empty()) << input;
    return;
  }
  for (const GraphPtr& graph : *graphs) {
    const auto again = parse(print(*graph));
    ASSERT_TRUE(again) << again.error().message << "\n" << input;
    ASSERT_EQ((*again)[0]->hash, graph->hash) << input;
    for (Epoch epoch : {Epoch::Old, Epoch::New}) {
      const auto json = export_mugraphs(std::span(&graph, 1), epoch);
      if (!json) continue;
      ASSERT_TRUE(import_mugraphs(*json, epoch)) << *json;
    }
  }
}

/// Pointers to every member and entry of a document.
void collect(Json& json, std::vector<Json*>& nodes) {
  nodes.push_back(&json);
  if (json.is_structured())
    for (Json& child : json) collect(child, nodes);
}

TEST(ParserMutations, Json) {
  Rng rng(mirage::testing::announced_seed());
  const Json values = Json::parse(
      R"([-1, 0, 1, 2, 3, 4, 7, 63, 64, 65, 1000000, 2147483648, 9223372036854775807,
          -9223372036854775808, 18446744073709551615, 1.5, 1e300, null, true, "", "tb_matmul_op",
          "kn_rms_norm_op", "tb_reduction_1_max_op", "tb_forloop_accum_red_ld_sum_rescale_op",
          "tb_concat_then_matmul_op", "tb_split_0_op", "kn_chunk_1_op", [], [1, 2, 3, 4], {},
          10000000, 10000001, 20000000, 20000001, 20000002])");
  for (const char* name : {"rmsnorm_linear.old.json", "online_attention.new.json",
                           "reductions.new.json", "attention.old.json"}) {
    const Json good = Json::parse(corpus_file(name));
    for (int i = 0; i < kMutations / 4; ++i) {
      Json mutated = good;
      for (uint64_t k = 0, changes = 1 + rng.below(3); k < changes; ++k) {
        std::vector<Json*> nodes;
        collect(mutated, nodes);
        Json& target = *nodes[rng.below(nodes.size())];
        if (target.is_structured() && !target.empty() && rng.below(2) == 0) {
          if (target.is_array())
            target.erase(rng.below(target.size()));
          else
            target.erase(std::next(target.begin(), static_cast<long>(rng.below(target.size()))));
        } else {
          target = rng.below(3) == 0 ? Json(*nodes[rng.below(nodes.size())])
                                     : values[rng.below(values.size())];
        }
      }
      const std::string text = mutated.dump();
      expect_graph_or_error(import_mugraphs(text, Epoch::New), text);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ParserMutations, Text) {
  Rng rng(mirage::testing::announced_seed());
  std::vector<std::string> words;  // with the space after them
  for (const char* name : {"online_attention.mu", "reductions.mu", "attention.mu"}) {
    std::string text = corpus_file(name);
    for (const char c : text.substr(text.find('\n') + 1)) {
      const bool is_word = std::isalnum(static_cast<unsigned char>(c)) || c == '%' || c == '_';
      if (words.empty() || !is_word ||
          !std::isalnum(static_cast<unsigned char>(words.back().back())))
        words.emplace_back();
      words.back() += c;
    }
  }
  for (int i = 0; i < kMutations; ++i) {
    std::vector<std::string> mutated = words;
    for (uint64_t k = 0, changes = 1 + rng.below(3); k < changes; ++k) {
      const size_t at = rng.below(mutated.size());
      if (rng.below(2) == 0)
        mutated.erase(mutated.begin() + static_cast<long>(at));
      else
        mutated[at] = words[rng.below(words.size())];
    }
    std::string text;
    for (const std::string& word : mutated) text += word;
    expect_graph_or_error(parse(text), text);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace mirage::ir
