// Full counts of verdicts on mutants and rewrites:
//   verify_mutants [SECOND_ORDER] [REWRITES]
//   verify_mutants --published [SECOND_ORDER] [REWRITES] [FILE]
//
// Mutants: every single change of every program of tests/property/mutant_programs.h and of its
// fused form, then SECOND_ORDER random changes of changes per program; or the same for every
// published graph (of one file), held against its program. Prints what must be 0 and the share of
// unknowns.

#include <cstdlib>
#include <cstring>
#include <ctime>

#include "ir/text.h"
#include "property/judge.h"
#include "property/mutant_programs.h"
#include "property/published_bases.h"

namespace {

using namespace mirage;

struct Counts {
  int second_order;
  int rewrites;
  testing::Tally mutants, laws;
  verify::VerifyOptions options;

  void judge(const std::string& name, const ir::Graph& reference, const ir::GraphPtr& base,
             Rng& rng) {
    const std::vector<testing::Changed> changes = testing::mutants(*base);
    for (const testing::Changed& changed : changes)
      testing::judge(reference, {name + ": " + changed.what, changed.graph}, options, mutants);
    for (int i = 0; i < second_order && !changes.empty(); ++i) {
      const testing::Changed& first = changes[rng.below(changes.size())];
      const auto more = testing::mutants(*first.graph);
      if (more.empty()) continue;
      const testing::Changed& second = more[rng.below(more.size())];
      testing::judge(reference, {name + ": " + first.what + ", " + second.what, second.graph},
                     options, mutants);
    }
    for (int i = 0; i < rewrites; ++i) {
      const testing::Changed changed =
          testing::rewritten(base, rng, 1 + static_cast<int>(rng.below(4)));
      if (changed.graph)
        testing::judge(reference, {name + ": " + changed.what, changed.graph}, options, laws);
    }
  }

  void progress(const std::string& name) const {
    fmt::print("{}: {} mutants and {} rewrites so far, {} wrong, {:.1f} s of CPU time\n", name,
               mutants.separated + mutants.same, laws.separated + laws.same,
               mutants.wrong.size() + laws.wrong.size(),
               static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
    std::fflush(stdout);
  }
};

void judge_programs(Counts& counts) {
  for (const testing::MutantProgram& program : testing::mutant_programs()) {
    const ir::GraphPtr reference = ir::parse(program.reference).value()[0];
    std::vector<ir::GraphPtr> bases = {reference};
    if (program.candidate) bases.push_back(ir::parse(program.candidate).value()[0]);
    Rng rng(7);
    for (const ir::GraphPtr& base : bases) counts.judge(program.name, *reference, base, rng);
    counts.progress(program.name);
  }
}

bool judge_published(Counts& counts, const char* only) {
  for (const testing::PublishedFile& published : testing::published_files()) {
    if (only && std::strcmp(only, published.file) != 0) continue;
    const auto program = testing::published_program(published);
    const auto graphs = ir::load_graphs(testing::published_path(published), ir::Epoch::Old);
    if (!program || !graphs) {
      fmt::print("{}\n", (program ? graphs.error() : program.error()).message);
      return false;
    }
    Rng rng(7);
    for (size_t i = 0; i < graphs->size(); ++i)
      counts.judge(fmt::format("{}#{}", published.file, i), **program, (*graphs)[i], rng);
    counts.progress(published.file);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bool published = argc > 1 && std::strcmp(argv[1], "--published") == 0;
  if (published) {
    --argc;
    ++argv;
  }
  Counts counts{argc > 1    ? std::atoi(argv[1])
                : published ? 10
                            : 700,
                argc > 2    ? std::atoi(argv[2])
                : published ? 10
                            : 120,
                {},
                {},
                {}};
  if (published) {
    if (!judge_published(counts, argc > 3 ? argv[3] : nullptr)) return 2;
  } else {
    judge_programs(counts);
  }
  const auto print = [](const char* name, const testing::Tally& tally) {
    fmt::print(
        "{}: separated by float64 {} (accepted {}), not separated {} (rejected {}, unknown {} = "
        "{:.2f} %), not evaluated {}\n",
        name, tally.separated, tally.accepted, tally.same, tally.rejected, tally.unknown,
        tally.same > 0 ? 100.0 * tally.unknown / tally.same : 0.0, tally.skipped);
    fmt::print("  slowest verdict {:.2f} s: {}\n", tally.slowest_seconds, tally.slowest);
    for (size_t i = 0; i < std::min<size_t>(tally.wrong.size(), 20); ++i)
      fmt::print("  wrong: {}\n", tally.wrong[i]);
    for (size_t i = 0; i < std::min<size_t>(tally.undecided.size(), 20); ++i)
      fmt::print("  unknown: {}\n", tally.undecided[i]);
  };
  print("mutants", counts.mutants);
  print("rewrites", counts.laws);
  return counts.mutants.wrong.empty() && counts.laws.wrong.empty() ? 0 : 1;
}
