// mirage cache: what earlier runs left.

#include <chrono>
#include <filesystem>
#include <memory>

#include "command.h"
#include "optimize/session.h"
#include "report/report.h"
#include "runtime/cache_folder.h"

namespace mirage::cli {
namespace {

namespace fs = std::filesystem;

/// What is older belongs to a process that is no more.
constexpr std::chrono::minutes kLongestCompilation{10};

struct Arguments {
  bool json = false;
  std::string action;
};

/// Compiled objects, precompiled headers and leftovers of killed compilers; nothing else in the
/// folder is ours to count.
std::vector<fs::path> compiled_files(const std::string& folder) {
  std::vector<fs::path> files;
  for (const char* finished : {"objects", "precompiled"})
    for (const fs::path& path : runtime::files_below(fs::path(folder) / finished)) {
      const std::string extension = path.extension().string();
      const bool has_key = path.filename().string().find_first_not_of("0123456789abcdef") >= 32;
      if (has_key && (extension == ".so" || extension == ".cubin" || extension == ".gch"))
        files.push_back(path);
    }
  const auto now = fs::file_time_type::clock::now();
  for (const fs::path& path : runtime::files_below(runtime::drafts_folder(folder))) {
    std::error_code error;
    const auto written = fs::last_write_time(path, error);
    if (!error && now - written > kLongestCompilation) files.push_back(path);
  }
  return files;
}

Result<int> run_cache(const Arguments& arguments) {
  optimize::Session session;
  tune::RecordStore* store = session.records();
  const std::vector<std::string> notes = session.take_notes();
  if (store == nullptr) return fail(Code::Io, "{}", notes.empty() ? "no record store" : notes[0]);
  for (const std::string& note : notes) print_error({Code::Io, note, {}}, false);
  const std::vector<fs::path> files = compiled_files(session.cache_directory());
  uint64_t bytes = 0;
  std::error_code error;
  for (const fs::path& file : files) {
    const uint64_t size = fs::file_size(file, error);
    if (!error) bytes += size;
  }
  if (arguments.action == "clear") {
    MIRAGE_TRY(const int64_t removed, store->clear());
    for (const fs::path& file : files) fs::remove(file, error);
    if (arguments.json)
      print_document(Json{{"schema", "mirage/cache-clear/1"},
                          {"records", removed},
                          {"files", files.size()},
                          {"bytes", bytes}});
    else
      print(fmt::format("removed {} records and {} compiled files of {} bytes\n", removed,
                        files.size(), bytes));
    return kFine;
  }
  MIRAGE_TRY(const std::vector<tune::RecordSummary> rows, store->list());
  Json records = Json::array();
  std::string text = fmt::format("{}: {} records, {} compiled files of {} bytes\n", store->file(),
                                 rows.size(), files.size(), bytes);
  for (const tune::RecordSummary& row : rows) {
    records.push_back({{"name", row.name},
                       {"target", row.target},
                       {"time_us", row.time_us},
                       {"baseline_us", row.baseline_us},
                       {"created_seconds", row.created_seconds},
                       {"key", row.key}});
    text += fmt::format("  {:<28} {:<12} {:>10}  as written {:>10}\n", row.name, row.target,
                        report::time_text(row.time_us), report::time_text(row.baseline_us));
  }
  if (arguments.json)
    print_document(Json{{"schema", "mirage/cache-list/1"},
                        {"file", store->file()},
                        {"compiled_files", files.size()},
                        {"bytes", bytes},
                        {"records", records}});
  else
    print(text);
  return kFine;
}

}  // namespace

void add_cache(Commands& commands) {
  auto arguments = std::make_shared<Arguments>();
  commands
      .add("cache", "records and compiled programs of earlier runs", arguments->json,
           [arguments] { return run_cache(*arguments); })
      .add_option("ACTION", arguments->action, "list or clear")
      ->required()
      ->check(CLI::IsMember({"list", "clear"}));
}

}  // namespace mirage::cli
