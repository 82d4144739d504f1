#pragma once
// One input of the muGraph fuzzers: the first byte chooses the epoch, the rest is the file. Import
// never aborts; what it accepts is usable, and is exported and read back where the format can say
// it.

#include <cstddef>
#include <cstdint>

#include "accepted.h"
#include "ir/mugraph_json.h"

namespace mirage::fuzz {

inline void check_mugraph(const uint8_t* data, size_t size) {
  if (size == 0) return;
  const ir::Epoch epoch = data[0] & 1 ? ir::Epoch::New : ir::Epoch::Old;
  const auto graphs =
      ir::import_mugraphs({reinterpret_cast<const char*>(data) + 1, size - 1}, epoch);
  if (!graphs) {
    const Error& error = graphs.error();
    MIRAGE_CHECK(error.code == Code::BadInput || error.code == Code::Unsupported,
                 "a wrong file is bad input");
    for (const char c : error.message)
      MIRAGE_CHECK(c >= ' ' && c <= '~', "a message is one line of plain characters");
    return;
  }
  for (const ir::GraphPtr& graph : *graphs) {
    check_accepted(graph);
    const auto json = ir::export_mugraphs(std::span(&graph, 1), epoch);
    if (!json) continue;
    const auto imported = ir::import_mugraphs(*json, epoch);
    MIRAGE_CHECK(imported.has_value(), "exported files must import");
  }
}

}  // namespace mirage::fuzz
