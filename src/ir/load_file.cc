#include "ir/load_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "ir/text.h"
#include "ir/text_lex.h"

namespace mirage::ir {
namespace {

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// The stem of the file if it can be a name in the text format.
std::string name_from(const std::string& path) {
  std::string stem = std::filesystem::path(path).stem().string();
  for (char& c : stem)
    if (c == '-' || c == ' ') c = '_';
  return is_identifier(stem) ? stem : std::string();
}

GraphPtr named(const GraphPtr& graph, std::string name) {
  if (!graph->name.empty() || name.empty()) return graph;
  Graph copy = *graph;
  copy.name = std::move(name);
  return std::make_shared<const Graph>(std::move(copy));
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  constexpr size_t kLargest = size_t{256} << 20;
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    return fail(Code::Io, "{}: is a folder", path);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) return fail(Code::Io, "{}: {}", path, std::strerror(errno));
  std::string text;
  char buffer[1 << 16];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, file.get())) {
    text.append(buffer, count);
    if (text.size() > kLargest) return fail(Code::Io, "{}: is larger than 256 MiB", path);
  }
  if (std::ferror(file.get())) return fail(Code::Io, "{}: cannot be read", path);
  return text;
}

FileRef file_ref(std::string_view text) {
  FileRef whole{std::string(text), std::nullopt};
  const size_t hash = text.rfind('#');
  if (hash == std::string_view::npos || exists(whole.path)) return whole;
  const std::string_view digits = text.substr(hash + 1);
  size_t index = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (digits.empty() || code != std::errc{} || end != digits.data() + digits.size()) return whole;
  return {std::string(text.substr(0, hash)), index};
}

Result<std::vector<GraphPtr>> load_graphs(std::string_view file, Epoch epoch) {
  const FileRef ref = file_ref(file);
  if (ref.path.find('\0') != std::string::npos)
    return bad_input("a file name cannot have a null byte, found {}", ref.path);
  const std::string extension = std::filesystem::path(ref.path).extension().string();
  if (extension != ".mu" && extension != ".json")
    return bad_input("{}: expected a .mu or .json file", ref.path);
  MIRAGE_TRY(const std::string text, read_text_file(ref.path));
  auto graphs = extension == ".mu" ? parse(text) : import_mugraphs(text, epoch);
  if (!graphs) {
    Error error = std::move(graphs).error();
    error.message = fmt::format("{}:{}{}", ref.path, extension == ".mu" ? "" : " ", error.message);
    return tl::unexpected(std::move(error));
  }
  const std::string name = name_from(ref.path);
  for (size_t i = 0; i < graphs->size(); ++i)
    (*graphs)[i] = named(
        (*graphs)[i], graphs->size() == 1 || name.empty() ? name : fmt::format("{}_{}", name, i));
  if (!ref.index) return graphs;
  if (*ref.index >= graphs->size())
    return bad_input("{}: has {} graph{}, there is no #{}", ref.path, graphs->size(),
                     graphs->size() == 1 ? "" : "s", *ref.index);
  return std::vector<GraphPtr>{(*graphs)[*ref.index]};
}

Result<GraphPtr> load_graph(std::string_view file, Epoch epoch) {
  MIRAGE_TRY(const auto graphs, load_graphs(file, epoch));
  if (graphs.size() != 1)
    return bad_input("{}: has {} graphs, pick one with {}#0", file, graphs.size(), file);
  return graphs[0];
}

}  // namespace mirage::ir
