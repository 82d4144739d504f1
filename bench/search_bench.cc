// Cold structure search of every program that the search is measured on: one line each, then the
// median and the worst. Usage: search_bench [FILE.mu...] [--dump]; without files the programs of
// examples/. --dump prints the structures.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "ir/load_file.h"
#include "search/cost.h"
#include "search/search.h"

int main(int argc, char** argv) {
  using namespace mirage::search;
  bool dump = false;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--dump") == 0)
      dump = true;
    else
      files.push_back(argv[i]);
  }
  if (files.empty())
    for (const auto& entry : std::filesystem::directory_iterator(MIRAGE_SOURCE_DIR "/examples"))
      if (entry.path().extension() == ".mu") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::printf("%-24s %6s %6s %6s %6s %8s %8s %6s %6s %8s %6s %6s %9s\n", "program", "alphas",
              "fused", "nodes", "edges", "cands", "useless", "dishon", "nonmon", "undef", "plans",
              "fewest", "ms");
  std::vector<double> times;
  for (const std::filesystem::path& file : files) {
    const std::string name = file.stem().string();
    const auto graph = mirage::ir::load_graph(file.string());
    if (!graph) {
      std::printf("%-24s %s\n", name.c_str(), graph.error().message.c_str());
      continue;
    }
    const auto result = search(**graph, {});
    if (!result) {
      std::printf("%-24s %s\n", name.c_str(), result.error().message.c_str());
      continue;
    }
    const SearchStats& s = result->stats;
    size_t fewest = 1000;
    for (const Structure& structure : result->structures) {
      size_t count = 0;
      for (const Step& step : structure.plan.steps)
        count += !step.args.empty() && step.kind != mirage::ir::OpKind::Accum;
      fewest = std::min(fewest, count);
    }
    const auto dropped = [&](Dropped reason) { return s.dropped[static_cast<size_t>(reason)]; };
    std::printf("%-24s %6zu %6zu %6zu %6zu %8zu %8zu %6zu %6zu %8zu %6zu %6zu %9.2f %s %s\n",
                name.c_str(), s.assignments, s.fused_assignments, s.nodes, s.edges, s.candidates,
                dropped(Dropped::Useless), dropped(Dropped::Dishonest),
                dropped(Dropped::NonMonotone), dropped(Dropped::Undefined), s.plans, fewest,
                s.seconds * 1e3, std::string(name_of(s.stop)).c_str(), result->reason.c_str());
    times.push_back(s.seconds);
    if (dump)
      for (const Structure& structure : result->structures) {
        const auto best = schedules(structure, {}, 1);
        std::printf("  %.3g (%.3g s): %s\n", structure.plan.cost, best[0].cost.seconds,
                    structure.describe().c_str());
      }
  }
  std::sort(times.begin(), times.end());
  if (!times.empty())
    std::printf("median %.2f ms, worst %.2f ms of %zu programs\n", times[times.size() / 2] * 1e3,
                times.back() * 1e3, times.size());
}
