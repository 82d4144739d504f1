// Any bytes as `.mu` text: parsing never aborts, and what it accepts is usable.

#include <cstdint>

#include "accepted.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mirage;
  const auto graphs = ir::parse({reinterpret_cast<const char*>(data), size});
  if (!graphs) {
    MIRAGE_CHECK(graphs.error().code == Code::BadInput, "a wrong text is bad input");
    return 0;
  }
  for (const ir::GraphPtr& graph : *graphs) fuzz::check_accepted(graph);
  return 0;
}
