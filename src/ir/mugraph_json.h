#pragma once
// Published muGraph JSON files, both epochs: how other people's search results come in, and ours go
// to their tools. Grid dimensions become grid axes x, y, z, the for loop becomes loop axis i, and
// the published accumulators become compositions (docs/ir.md has the table).

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "util/result.h"

namespace mirage::ir {

/// Which table the dtype codes follow. Operator names tell their own epoch and are all accepted;
/// codes do not: 940 and 941 were exchanged. Code 921 is f16 in both.
enum class Epoch : uint8_t {
  Old,  // 940 is bf16, 941 is f16
  New,  // 940 is f16, 941 is bf16
};
std::string_view name_of(Epoch epoch);
/// "old" or "new".
std::optional<Epoch> epoch_named(std::string_view name);

/// The graphs of a file: a list of graphs, or one graph. BadInput names graph, operator, expected
/// and found; Unsupported where the format is right but its meaning was lost or is not ours
/// (all-reduce).
Result<std::vector<GraphPtr>> import_mugraphs(std::string_view json, Epoch epoch);

/// A file that import_mugraphs and the published reader accept: old names and codes, or new ones.
/// Unsupported, with the reason, for a graph that the format cannot say.
Result<std::string> export_mugraphs(std::span<const GraphPtr> graphs, Epoch epoch);

}  // namespace mirage::ir
