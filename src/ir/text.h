#pragma once
// The text format `.mu` (docs/ir.md): graphs as people read and write them. Printing and parsing
// again gives a graph of the same hash; names are kept, or made unique where two values share one.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "util/result.h"

namespace mirage::ir {

/// One graph of any level. A value without a name is printed as its number: inputs first, then
/// results in order.
std::string print(const Graph& graph);
/// Several graphs, one file.
std::string print(std::span<const GraphPtr> graphs);

/// All graphs of a text, at least one. BadInput: "LINE:COLUMN: what was expected and found".
Result<std::vector<GraphPtr>> parse(std::string_view text);

/// A number as the text format writes it: exact, and read back to the same bits. Not for NaN.
std::string number_text(double value);

}  // namespace mirage::ir
