#include "verify/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "interp/domain_support.h"
#include "interp/evaluator.h"
#include "verify/shrink.h"

namespace mirage::verify {
namespace {

using interp::Support;

/// For each input: how many entries one output entry depends on.
std::vector<size_t> reach(const ir::Graph& graph, const Witness& witness) {
  interp::Evaluator<interp::SupportDomain> evaluator(graph);
  std::vector<size_t> input_of;  // by number of the entry
  evaluator.fill_inputs([&](size_t input) {
    Support entry;
    entry.inputs.insert(input_of.size());
    input_of.push_back(input);
    return entry;
  });
  interp::SupportDomain domain;
  std::vector<size_t> counts(graph.inputs.size(), 0);
  if (!evaluator.run(domain)) return counts;
  const auto& output = evaluator.output(witness.output);
  // The last entry exists at every size, and no row or column of it is the first one.
  if (output.data.empty()) return counts;
  output.data.back().inputs.for_each([&](size_t entry) { ++counts[input_of[entry]]; });
  return counts;
}

}  // namespace

std::string explain(const ir::Graph& reference, const ir::Graph& candidate,
                    const Witness& witness) {
  std::string text = fmt::format(
      "output {} entry {}: the program gives {:.17g}, the candidate {:.17g} (bound of both errors "
      "{:.1e}; inputs {}, scale {}, seed {})",
      witness.output, witness.entry, witness.reference, witness.candidate, witness.bound,
      fmt::join(
          [&] {
            std::vector<std::string> shapes;
            for (const ir::Shape& shape : witness.input_shapes)
              shapes.push_back(ir::to_string(shape));
            return shapes;
          }(),
          " "),
      witness.scale, witness.seed);
  const Result<SmallPair> pair = shrink(reference, candidate);
  if (!pair) return text;
  const std::vector<size_t> a = reach(*pair->reference, witness);
  const std::vector<size_t> b = reach(*pair->candidate, witness);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    const std::string& given = reference.value(reference.inputs[i]).name;
    const std::string name = given.empty() ? fmt::format("input {}", i) : given;
    const ir::Shape& shape = pair->reference->type(pair->reference->inputs[i]).shape;
    text += fmt::format(
        "; {} is not contracted alike: at {} one output entry depends on {} of its entries in the "
        "program, on {} in the candidate",
        name, ir::to_string(shape), a[i], b[i]);
  }
  return text;
}

}  // namespace mirage::verify
