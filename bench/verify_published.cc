// Verdicts on published graphs, as `mirage verify` gives them:
//   verify_published                                  every published file against its program
//   verify_published PROGRAM.mu FILE.json [old|new] [--all]
//
// The count of each answer, an example of each (all with --all), and the time a verdict takes.

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "property/published_bases.h"
#include "verify/verify.h"

namespace {

using namespace mirage;

/// What a verdict is counted as.
std::string kind_of(const Result<verify::Verdict>& verdict) {
  if (!verdict) return "error";
  std::string kind(name_of(verdict->answer));
  if (verdict->is_equivalent()) kind += verdict->all_sizes ? " (all sizes)" : " (these sizes)";
  if (verdict->is_equivalent() && verdict->method == verify::Method::Field)
    kind += verdict->log2_error_bound <= -50 ? ", bound" : ", no bound";
  if (verdict->witness && verdict->reason.find("not contracted") != std::string::npos)
    kind += ", witness says what is not contracted alike";
  return kind;
}

bool judge(const std::string& program_path, const std::string& path, ir::Epoch epoch, bool all,
           std::vector<double>& times) {
  const auto program = ir::load_graph(program_path);
  const auto graphs = ir::load_graphs(path, epoch);
  if (!program || !graphs) {
    fmt::print("{}\n", (program ? graphs.error() : program.error()).message);
    return false;
  }
  verify::VerifyOptions options;
  options.real_size_work = verify::kThoroughWork;
  std::map<std::string, int> counts;
  std::vector<double> own;
  for (size_t i = 0; i < graphs->size(); ++i) {
    const std::clock_t start = std::clock();
    const auto verdict = verify::verify(**program, *(*graphs)[i], options);
    own.push_back(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    const std::string kind = kind_of(verdict);
    if (counts[kind]++ > 0 && !all) continue;
    fmt::print("{} #{}: {}\n", path, i, verdict ? to_string(*verdict) : verdict.error().message);
    if (verdict)
      for (const std::string& note : verdict->notes) fmt::print("    {}\n", note);
  }
  for (const auto& [kind, count] : counts) fmt::print("{}: {} {}\n", path, count, kind);
  fmt::print("{}: slowest {:.3f} s of CPU time\n", path, *std::max_element(own.begin(), own.end()));
  times.insert(times.end(), own.begin(), own.end());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  bool all = false;
  if (!args.empty() && args.back() == "--all") {
    all = true;
    args.pop_back();
  }
  if (args.size() == 1) {
    fmt::print("usage: verify_published [PROGRAM.mu FILE.json [old|new]] [--all]\n");
    return 2;
  }
  std::vector<double> times;
  bool is_read = true;
  if (args.empty()) {
    for (const testing::PublishedFile& published : testing::published_files())
      is_read = judge(testing::program_path(published), testing::published_path(published),
                      ir::Epoch::Old, all, times) &&
                is_read;
  } else {
    const auto epoch = args.size() > 2 ? ir::epoch_named(args[2]) : ir::Epoch::Old;
    is_read = judge(args[0], args[1], epoch.value_or(ir::Epoch::Old), all, times);
  }
  if (times.empty()) return 2;
  std::sort(times.begin(), times.end());
  fmt::print("{} verdicts: median {:.3f} s, slowest {:.3f} s of CPU time\n", times.size(),
             times[times.size() / 2], times.back());
  return is_read ? 0 : 2;
}
