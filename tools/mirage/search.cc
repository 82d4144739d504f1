// mirage search: the structures of a program, and whether one is among them.

#include "search/search.h"

#include <memory>

#include "command.h"
#include "ir/load_file.h"
#include "search/contains.h"

namespace mirage::cli {
namespace {

struct Arguments {
  bool json = false;
  std::string file, contains;
  int64_t max_states = 0;
  size_t top = 16;
  search::SearchOptions options;
};

Json stats_of(const search::SearchStats& stats) {
  Json dropped = Json::object();
  for (size_t i = 0; i < search::kDroppedReasons; ++i)
    dropped[std::string(search::name_of(static_cast<search::Dropped>(i)))] = stats.dropped[i];
  return {{"values", stats.nodes},
          {"edges", stats.edges},
          {"candidates", stats.candidates},
          {"assignments", stats.assignments},
          {"fused_assignments", stats.fused_assignments},
          {"plans", stats.plans},
          {"dropped", dropped},
          {"used_algebra", stats.used_algebra},
          {"stop", search::name_of(stats.stop)}};
}

Result<int> run_contains(const Arguments& arguments, const ir::Graph& program) {
  MIRAGE_TRY(const std::vector<ir::GraphPtr> wanted, ir::load_graphs(arguments.contains));
  MIRAGE_TRY(const search::SearchSpace space, search::search_space(program, arguments.options));
  Json rows = Json::array();
  std::string text;
  int code = kFine;
  const ir::FileRef ref = ir::file_ref(arguments.contains);
  for (size_t i = 0; i < wanted.size(); ++i) {
    MIRAGE_TRY(const search::ContainsResult found, search::contains(space, *wanted[i]));
    const size_t number = ref.index.value_or(i);
    rows.push_back(
        {{"graph", number}, {"answer", search::name_of(found.answer)}, {"reason", found.reason}});
    text += fmt::format("#{} {}{}{}\n", number, search::name_of(found.answer),
                        found.reason.empty() ? "" : ": ", found.reason);
    if (found.answer == search::Containment::No) code = kDifferent;
    if (found.answer == search::Containment::Unsupported && code == kFine) code = kUnknown;
  }
  if (arguments.json)
    print_document(Json{{"schema", "mirage/search-contains/1"},
                        {"program", program.name},
                        {"search_seconds", space.stats.seconds},
                        {"stats", stats_of(space.stats)},
                        {"graphs", rows}});
  else
    print(text);
  return code;
}

Result<int> run_search(Arguments& arguments) {
  MIRAGE_TRY(const ir::GraphPtr program, ir::load_graph(arguments.file));
  catch_interrupts();
  arguments.options.cancel = &interrupted();
  if (arguments.max_states > 0)
    arguments.options.max_nodes = static_cast<size_t>(arguments.max_states);
  if (!arguments.contains.empty()) return run_contains(arguments, *program);
  MIRAGE_TRY(const search::SearchResult found, search::search(*program, arguments.options));
  if (arguments.json) {
    Json structures = Json::array();
    for (const search::Structure& structure : found.structures)
      structures.push_back(structure.describe());
    print_document(Json{{"schema", "mirage/search/1"},
                        {"program", program->name},
                        {"search_seconds", found.stats.seconds},
                        {"stats", stats_of(found.stats)},
                        {"structures", structures},
                        {"reason", found.reason}});
    return interrupted() ? kInterrupted : kFine;
  }
  std::string text = fmt::format("{}: {} structures of {} values in {:.3f} s ({})\n", program->name,
                                 found.structures.size(), found.stats.nodes, found.stats.seconds,
                                 search::name_of(found.stats.stop));
  for (size_t i = 0; i < found.structures.size() && i < arguments.top; ++i)
    text += fmt::format("{:>4}  {}\n", i, found.structures[i].describe());
  if (found.structures.size() > arguments.top)
    text += fmt::format("      and {} more (--top)\n", found.structures.size() - arguments.top);
  if (!found.reason.empty()) text += found.reason + "\n";
  print(text);
  return interrupted() ? kInterrupted : kFine;
}

}  // namespace

void add_search(Commands& commands) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App& command = commands.add("search", "the fused kernels that compute a program",
                                   arguments->json, [arguments] { return run_search(*arguments); });
  command.add_option("FILE", arguments->file, "a .mu file or muGraph JSON")->required();
  command.add_option("--contains", arguments->contains,
                     "is this graph (FILE#n, or all of FILE) among the structures?");
  command.add_option("--time-limit", arguments->options.time_limit_seconds, "seconds")
      ->check(seconds(0.001));
  command.add_option("--max-states", arguments->max_states, "values the search may create")
      ->check(CLI::Range(int64_t{1}, int64_t{100'000'000}));
  command.add_option("--threads", arguments->options.threads, "threads")
      ->check(CLI::Range(1, 1024));
  command
      .add_option("--seed", arguments->options.seed, "of the random inputs that tell values apart")
      ->check(whole_number());
  command.add_option("--top", arguments->top, "structures to print")->check(whole_number());
}

}  // namespace mirage::cli
