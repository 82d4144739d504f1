// Verdicts on the structures that search finds: verify_search [FILE.mu...], without files the
// programs of examples/. Each structure at its best schedule and at trips that do not divide;
// counts of answers, and the time a verdict takes with the budget of a search and with that of
// `mirage verify`.

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>

#include "ir/load_file.h"
#include "search/cost.h"
#include "search/search.h"
#include "verify/verify.h"

int main(int argc, char** argv) {
  using namespace mirage;
  std::vector<std::filesystem::path> files(argv + 1, argv + argc);
  if (files.empty())
    for (const auto& entry : std::filesystem::directory_iterator(MIRAGE_SOURCE_DIR "/examples"))
      if (entry.path().extension() == ".mu") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  bool all_good = true;
  for (const std::filesystem::path& file : files) {
    const auto program = ir::load_graph(file.string());
    const auto found = program ? search::search(**program, {})
                               : Result<search::SearchResult>(tl::unexpected(program.error()));
    if (!found) {
      fmt::print("{}: {}\n", file.string(), found.error().message);
      all_good = false;
      continue;
    }
    std::map<std::string, int> counts;
    size_t fewest = SIZE_MAX;
    double slowest[2] = {0, 0}, total[2] = {0, 0};
    int verdicts = 0;
    for (const search::Structure& structure : found->structures) {
      std::vector<std::vector<int64_t>> choices;
      for (const auto& schedule : search::schedules(structure, {}, 1))
        choices.push_back(schedule.trips);
      choices.emplace_back();
      for (const auto& axis : structure.axes)
        choices.back().push_back(search::fit_trips(*structure.problem, axis, 3));
      for (const std::vector<int64_t>& trips : choices) {
        const auto graph = structure.instantiate(trips);
        if (!graph) continue;
        ++verdicts;
        for (const int thorough : {0, 1}) {
          verify::VerifyOptions options;
          if (thorough == 1) options.real_size_work = verify::kThoroughWork;
          const std::clock_t start = std::clock();
          const auto verdict = verify::verify(**program, **graph, options);
          const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
          slowest[thorough] = std::max(slowest[thorough], seconds);
          total[thorough] += seconds;
          const bool is_good =
              verdict && verdict->is_equivalent() && verdict->log2_error_bound <= -50;
          all_good &= is_good;
          if (is_good) fewest = std::min(fewest, verdict->real_size_entries);
          std::string key = verdict ? std::string(name_of(verdict->answer)) : "error";
          if (verdict && verdict->is_equivalent() && !is_good) key += " without bound";
          const std::string text = verdict ? to_string(*verdict) : verdict.error().message;
          if (counts[key]++ == 0 && !is_good) fmt::print("  {}: {}\n", structure.describe(), text);
        }
      }
    }
    fmt::print("{:24}", file.stem().string());
    for (const auto& [key, count] : counts) fmt::print(" {} {},", count, key);
    for (const int thorough : {0, 1})
      fmt::print(" {}: mean {:.3f} s, slowest {:.3f} s;", thorough == 1 ? "thorough" : "search",
                 total[thorough] / std::max(verdicts, 1), slowest[thorough]);
    fmt::print(" at least {} entries\n", fewest == SIZE_MAX ? 0 : fewest);
  }
  return all_good ? 0 : 1;
}
