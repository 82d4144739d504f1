#pragma once
// Graphs from files: the one place that maps a file name to a format.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/mugraph_json.h"
#include "util/result.h"

namespace mirage::ir {

/// A file name with an optional selection: "plans.json#3" is graph 3 (from 0) of plans.json. A
/// file whose whole name exists is never split.
struct FileRef {
  std::string path;
  std::optional<size_t> index;
};
FileRef file_ref(std::string_view text);

/// All graphs of FILE, or the one that `FILE#n` picks. `.mu` is the text format, `.json` published
/// muGraph JSON with dtype codes of `epoch`. Io if the file cannot be read, BadInput (which begins
/// with the file name) for anything wrong in it. A graph without a name is named after the file.
Result<std::vector<GraphPtr>> load_graphs(std::string_view file, Epoch epoch = Epoch::New);
/// The same where exactly one graph is wanted.
Result<GraphPtr> load_graph(std::string_view file, Epoch epoch = Epoch::New);

Result<std::string> read_text_file(const std::string& path);

}  // namespace mirage::ir
