// mirage optimize, mirage explain.

#include "optimize/optimize.h"

#include <unistd.h>

#include <filesystem>
#include <memory>

#include "command.h"
#include "explain.h"
#include "ir/load_file.h"
#include "ir/text.h"
#include "report/report.h"

namespace mirage::cli {
namespace {

struct Arguments {
  bool json = false;
  std::string file, report, save, emit;
  bool no_cache = false;
  optimize::OptimizeOptions options;
};

/// One line that is rewritten; only for a person.
void show_progress(const optimize::Progress& progress) {
  std::string line = fmt::format("\r\033[K{} {}/{}", progress.stage, progress.done, progress.total);
  if (progress.best_us > 0) line += "  best " + report::time_text(progress.best_us);
  if (progress.baseline_us > 0 && progress.best_us > 0)
    line += fmt::format(" ({:.2f}x)", progress.baseline_us / progress.best_us);
  line += fmt::format("  {:.0f} s left", progress.seconds_left);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

Result<optimize::Optimized> run(Arguments& arguments) {
  MIRAGE_TRY(const ir::GraphPtr program, ir::load_graph(arguments.file));
  optimize::SessionOptions session_options;
  session_options.is_cold = arguments.no_cache;
  session_options.worker_command = worker_command();
  optimize::Session session(session_options);
  arguments.options.use_records = !arguments.no_cache;
  catch_interrupts();
  arguments.options.cancel = &interrupted();
  const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  if (is_terminal) arguments.options.progress = show_progress;
  Result<optimize::Optimized> result = optimize::optimize(program, arguments.options, session);
  if (is_terminal) std::fputs("\r\033[K", stderr);
  return result;
}

/// A result of a minute must not be lost to a wrong path.
Result<void> check_places(const Arguments& arguments) {
  for (const std::string& path : {arguments.save, arguments.report})
    if (!path.empty()) MIRAGE_TRY_VOID(check_writable(path));
  if (arguments.emit.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(arguments.emit, error);
  return check_writable(arguments.emit + "/program.cc");
}

Result<int> run_optimize(Arguments& arguments) {
  MIRAGE_TRY_VOID(check_places(arguments));
  Result<optimize::Optimized> result = run(arguments);
  if (!result && interrupted()) return int{kInterrupted};
  if (!result) return tl::unexpected(result.error());
  if (!arguments.save.empty())
    MIRAGE_TRY_VOID(write_file(arguments.save, ir::print(*result->winner)));
  if (!arguments.report.empty())
    MIRAGE_TRY_VOID(write_file(arguments.report, report::to_json(result->report)));
  if (!arguments.emit.empty()) {
    const std::string path =
        fmt::format("{}/{}.cc", arguments.emit,
                    result->program->name.empty() ? "program" : result->program->name);
    MIRAGE_TRY_VOID(write_file(path, result->executable->source().text));
  }
  print(arguments.json ? report::to_json(result->report) : report::to_text(result->report));
  return interrupted() ? kInterrupted : kFine;
}

Result<int> run_explain(Arguments& arguments) {
  Result<optimize::Optimized> result = run(arguments);
  if (!result && interrupted()) return int{kInterrupted};
  if (!result) return tl::unexpected(result.error());
  MIRAGE_TRY(const Explanation explanation, explain(*result));
  if (arguments.json)
    print_document(explanation.document);
  else
    print(explanation.text);
  return interrupted() ? kInterrupted : kFine;
}

void add_options(CLI::App& command, Arguments& arguments) {
  optimize::OptimizeOptions& options = arguments.options;
  command.add_option("FILE", arguments.file, "a .mu file or muGraph JSON; FILE#3 picks a graph")
      ->required();
  command
      .add_option("--target", options.target, "cpu, native, or a name that `mirage targets` lists")
      ->capture_default_str();
  command.add_option("--time-limit", options.time_limit_seconds, "seconds for everything")
      ->check(seconds(0.1))
      ->capture_default_str();
  command.add_option("--max-states", options.max_states, "values the search may create")
      ->check(CLI::Range(int64_t{1}, int64_t{100'000'000}));
  command.add_option("--top", options.top, "programs to build beside the one as written")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_option("--threads", options.threads, "threads of the program; all cores if left out")
      ->check(CLI::Range(1, 1024));
  command.add_option("--seed", options.seed, "of random inputs and tests")
      ->check(whole_number())
      ->capture_default_str();
  command.add_flag("--no-cache", arguments.no_cache, "use nothing of earlier runs, keep nothing");
}

}  // namespace

void add_optimize(Commands& commands) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App& command =
      commands.add("optimize", "find, prove and build the fastest program", arguments->json,
                   [arguments] { return run_optimize(*arguments); });
  add_options(command, *arguments);
  command.add_option("--report", arguments->report, "write the report as JSON");
  command.add_option("--save", arguments->save, "write the winner as .mu");
  command.add_option("--emit", arguments->emit, "write the winner's source into this folder");

  auto explain = std::make_shared<Arguments>();
  add_options(commands.add("explain", "why the winner won", explain->json,
                           [explain] { return run_explain(*explain); }),
              *explain);
}

}  // namespace mirage::cli
