// Full counts of verdicts on mutants and rewrites: verify_mutants [SECOND_ORDER] [REWRITES]
//
// Mutants: every single change of every program of tests/property/mutant_programs.h and of its
// fused form, then SECOND_ORDER random changes of changes per program. Prints what must be 0 and
// the share of unknowns.

#include <cstdlib>

#include "ir/text.h"
#include "property/judge.h"
#include "property/mutant_programs.h"

int main(int argc, char** argv) {
  using namespace mirage;
  const int second_order = argc > 1 ? std::atoi(argv[1]) : 700;
  const int rewrites = argc > 2 ? std::atoi(argv[2]) : 120;
  testing::Tally mutants, laws;
  verify::VerifyOptions options;
  for (const testing::MutantProgram& program : testing::mutant_programs()) {
    const ir::GraphPtr reference = ir::parse(program.reference).value()[0];
    std::vector<ir::GraphPtr> bases = {reference};
    if (program.candidate) bases.push_back(ir::parse(program.candidate).value()[0]);
    Rng rng(7);
    for (const ir::GraphPtr& base : bases) {
      const std::vector<testing::Changed> changes = testing::mutants(*base);
      for (const testing::Changed& changed : changes)
        testing::judge(*reference, {std::string(program.name) + ": " + changed.what, changed.graph},
                       options, mutants);
      for (int i = 0; i < second_order && !changes.empty(); ++i) {
        const testing::Changed& first = changes[rng.below(changes.size())];
        const auto more = testing::mutants(*first.graph);
        if (more.empty()) continue;
        const testing::Changed& second = more[rng.below(more.size())];
        testing::judge(
            *reference,
            {std::string(program.name) + ": " + first.what + ", " + second.what, second.graph},
            options, mutants);
      }
      for (int i = 0; i < rewrites; ++i) {
        const testing::Changed changed =
            testing::rewritten(base, rng, 1 + static_cast<int>(rng.below(4)));
        if (changed.graph)
          testing::judge(*reference,
                         {std::string(program.name) + ": " + changed.what, changed.graph}, options,
                         laws);
      }
    }
    fmt::print("{}: {} mutants so far, {} wrong\n", program.name, mutants.separated + mutants.same,
               mutants.wrong.size() + laws.wrong.size());
  }
  const auto print = [](const char* name, const testing::Tally& tally) {
    fmt::print(
        "{}: separated by float64 {} (accepted {}), not separated {} (rejected {}, unknown {} = "
        "{:.2f} %), not evaluated {}\n",
        name, tally.separated, tally.accepted, tally.same, tally.rejected, tally.unknown,
        tally.same > 0 ? 100.0 * tally.unknown / tally.same : 0.0, tally.skipped);
    for (size_t i = 0; i < std::min<size_t>(tally.wrong.size(), 20); ++i)
      fmt::print("  wrong: {}\n", tally.wrong[i]);
    for (size_t i = 0; i < std::min<size_t>(tally.undecided.size(), 20); ++i)
      fmt::print("  unknown: {}\n", tally.undecided[i]);
  };
  print("mutants", mutants);
  print("rewrites", laws);
  return mutants.wrong.empty() && laws.wrong.empty() ? 0 : 1;
}
