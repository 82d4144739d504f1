// mirage bench: optimize every program of a suite, a line each.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "command.h"
#include "ir/load_file.h"
#include "optimize/optimize.h"
#include "report/report.h"

namespace mirage::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  bool json = false, no_cache = false;
  std::string suite;
  optimize::OptimizeOptions options;
};

/// `examples` is the folder of that name; any other folder, or one file, works too.
Result<std::vector<std::string>> files_of(const std::string& suite) {
  std::error_code error;
  if (fs::is_regular_file(suite, error)) return std::vector<std::string>{suite};
  if (!fs::is_directory(suite, error))
    return bad_input("bench {}: expected a folder of .mu files, or one file", suite);
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(suite, error))
    if (entry.path().extension() == ".mu") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  if (files.empty()) return bad_input("bench {}: no .mu files", suite);
  return files;
}

Result<int> run_bench(Arguments& arguments) {
  MIRAGE_TRY(const std::vector<std::string> files, files_of(arguments.suite));
  catch_interrupts();
  arguments.options.cancel = &interrupted();
  arguments.options.use_records = !arguments.no_cache;
  Json rows = Json::array();
  double log_sum = 0;
  int code = kFine, done = 0;
  for (const std::string& file : files) {
    if (interrupted()) break;
    MIRAGE_TRY(const ir::GraphPtr program, ir::load_graph(file));
    optimize::SessionOptions session_options;
    session_options.is_cold = arguments.no_cache;
    session_options.worker_command = worker_command();
    optimize::Session session(session_options);
    const Result<optimize::Optimized> result =
        optimize::optimize(program, arguments.options, session);
    if (!result) {
      code = exit_code(result.error());
      print_error({result.error().code, file + ": " + result.error().message, {}}, false);
      rows.push_back({{"file", file}, {"error", result.error().message}});
      continue;
    }
    const optimize::Report& report = result->report;
    if (report.is_checked()) {
      log_sum += std::log(report.speed_up());
      ++done;
    }
    rows.push_back({{"file", file},
                    {"baseline_us", report.baseline_us()},
                    {"winner_us", report.best_us()},
                    {"speed_up", report.speed_up()},
                    {"search_seconds", report.search.seconds},
                    {"total_seconds", report.total_seconds},
                    {"winner", report.best().plan}});
    if (!arguments.json && !report.is_checked())
      print(fmt::format("{:<28} not checked: no time\n", program->name));
    else if (!arguments.json)
      print(fmt::format("{:<28} {:>9} {:>9}  {:>5.2f}x  search {:.2f} s  all {:.1f} s\n",
                        program->name, report::time_text(report.baseline_us()),
                        report::time_text(report.best_us()), report.speed_up(),
                        report.search.seconds, report.total_seconds));
  }
  const double geomean = done > 0 ? std::exp(log_sum / done) : 1;
  if (arguments.json)
    print_document(Json{{"schema", "mirage/bench/1"},
                        {"suite", arguments.suite},
                        {"programs", rows},
                        {"geomean_speed_up", geomean}});
  else
    print(fmt::format("geometric mean of {}: {:.2f}x\n", done, geomean));
  return interrupted() ? int{kInterrupted} : code;
}

}  // namespace

void add_bench(Commands& commands) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App& command = commands.add("bench", "optimize every program of a folder", arguments->json,
                                   [arguments] { return run_bench(*arguments); });
  command.add_option("SUITE", arguments->suite, "a folder of .mu files, or one file")->required();
  command.add_option("--target", arguments->options.target, "as of optimize");
  command.add_option("--time-limit", arguments->options.time_limit_seconds, "seconds a program")
      ->check(seconds(0.1));
  command.add_option("--top", arguments->options.top, "programs to build")
      ->check(CLI::Range(1, 1000));
  command.add_option("--threads", arguments->options.threads, "threads")
      ->check(CLI::Range(1, 1024));
  command.add_option("--seed", arguments->options.seed, "of random inputs and tests")
      ->check(whole_number());
  command.add_flag("--no-cache", arguments->no_cache, "use nothing of earlier runs, keep nothing");
}

}  // namespace mirage::cli
