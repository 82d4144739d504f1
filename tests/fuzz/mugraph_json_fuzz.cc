// Any bytes as muGraph JSON, the first one choosing the epoch: import never aborts, and what it
// accepts is printed, and exported where the format can say it, and read back.

#include <cstdint>

#include "ir/mugraph_json.h"
#include "ir/text.h"
#include "util/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mirage;
  if (size == 0) return 0;
  const ir::Epoch epoch = data[0] & 1 ? ir::Epoch::New : ir::Epoch::Old;
  const auto graphs =
      ir::import_mugraphs({reinterpret_cast<const char*>(data) + 1, size - 1}, epoch);
  if (!graphs) {
    MIRAGE_CHECK(graphs.error().code == Code::BadInput || graphs.error().code == Code::Unsupported,
                 "a wrong file is bad input");
    return 0;
  }
  for (const ir::GraphPtr& graph : *graphs) {
    const auto again = ir::parse(ir::print(*graph));
    MIRAGE_CHECK(again && (*again)[0]->hash == graph->hash, "text must be the same graph");
    const auto json = ir::export_mugraphs(std::span(&graph, 1), epoch);
    if (!json) continue;
    const auto imported = ir::import_mugraphs(*json, epoch);
    MIRAGE_CHECK(imported.has_value(), "exported files must import");
  }
  return 0;
}
