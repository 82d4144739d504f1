// Verdicts on published graphs: verify_published PROGRAM.mu FILE.json [old|new] [--all]
//
// The count of each answer, an example of each (all with --all), and the time a verdict takes.

#include <fmt/format.h>

#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "ir/load_file.h"
#include "verify/verify.h"

int main(int argc, char** argv) {
  using namespace mirage;
  std::vector<std::string> args(argv + 1, argv + argc);
  bool all = false;
  if (!args.empty() && args.back() == "--all") {
    all = true;
    args.pop_back();
  }
  if (args.size() < 2) {
    fmt::print("usage: verify_published PROGRAM.mu FILE.json [old|new] [--all]\n");
    return 2;
  }
  const auto epoch = args.size() > 2 ? ir::epoch_named(args[2]) : ir::Epoch::Old;
  const auto program = ir::load_graph(args[0]);
  const auto graphs = ir::load_graphs(args[1], epoch.value_or(ir::Epoch::Old));
  if (!program || !graphs) {
    fmt::print("{}\n", (program ? graphs.error() : program.error()).message);
    return 2;
  }
  std::map<std::string, int> counts;
  double slowest = 0, total = 0;
  for (size_t i = 0; i < graphs->size(); ++i) {
    const std::clock_t start = std::clock();
    const auto verdict = verify::verify(**program, *(*graphs)[i]);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    slowest = std::max(slowest, seconds);
    total += seconds;
    const std::string text = verdict ? to_string(*verdict) : verdict.error().message;
    std::string key = verdict ? std::string(name_of(verdict->answer)) : "error";
    if (verdict && verdict->is_equivalent())
      key += verdict->all_sizes ? " (all sizes)" : " (these sizes)";
    if (counts[key]++ == 0 || all) {
      fmt::print("{} #{}: {}\n", args[1], i, text);
      if (verdict)
        for (const std::string& note : verdict->notes) fmt::print("    {}\n", note);
    }
  }
  for (const auto& [key, count] : counts) fmt::print("{}: {} {}\n", args[1], count, key);
  fmt::print("{}: slowest {:.3f} s, mean {:.3f} s of CPU time\n", args[1], slowest,
             total / static_cast<double>(graphs->size()));
  return 0;
}
