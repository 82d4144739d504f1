// Any bytes as `.mu` text: parsing never aborts, and what it accepts prints and parses again to the
// same graph.

#include <cstdint>

#include "ir/text.h"
#include "util/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mirage;
  const auto graphs = ir::parse({reinterpret_cast<const char*>(data), size});
  if (!graphs) {
    MIRAGE_CHECK(graphs.error().code == Code::BadInput, "a wrong text is bad input");
    return 0;
  }
  for (const ir::GraphPtr& graph : *graphs) {
    const std::string text = ir::print(*graph);
    const auto again = ir::parse(text);
    MIRAGE_CHECK(again && again->size() == 1, "printed text must parse");
    MIRAGE_CHECK((*again)[0]->hash == graph->hash, "printed text must be the same graph");
    MIRAGE_CHECK(ir::print(*(*again)[0]) == text, "printing must not change");
  }
  return 0;
}
