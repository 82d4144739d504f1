#pragma once
// Published graphs whose mutants and rewrites are judged, each file with its program.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "ir/load_file.h"

namespace mirage::testing {

struct PublishedFile {
  const char* program;  // of examples/
  const char* file;
};

inline std::vector<PublishedFile> published_files() {
  return {{"rmsnorm_bs1", "rmsnorm_bs1"},
          {"rmsnorm_bs8", "rmsnorm_bs8"},
          {"lora", "lora"},
          {"gated_mlp", "gated_mlp"},
          {"gqa_bs1", "gqa_bs1"},
          {"gqa_bs8", "gqa_bs8"},
          {"mqa_bs1", "mqa_bs1"},
          {"mha_bs1", "mha_bs1"},
          {"mha_bs8", "mha_bs8"},
          {"ntrans_bs1", "ntrans_bs1"},
          {"qwen_norm_linear", "qwen_norm_linear"},
          {"qknorm_qv_bs1", "qknorm_gqa_bs1"}};
}

inline std::string published_path(const PublishedFile& published) {
  const char* shared = std::getenv("MIRAGE_SHARED");
  return std::string(shared ? shared : MIRAGE_SOURCE_DIR "/../shared") + "/data/mugraphs/" +
         published.file + ".json";
}

inline std::string program_path(const PublishedFile& published) {
  return std::string(MIRAGE_SOURCE_DIR "/examples/") + published.program + ".mu";
}

inline Result<ir::GraphPtr> published_program(const PublishedFile& published) {
  return ir::load_graph(program_path(published));
}

}  // namespace mirage::testing
