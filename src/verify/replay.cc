#include "verify/replay.h"

#include <cmath>

#include "interp/interp.h"
#include "verify/shrink.h"
#include "verify/witness.h"

namespace mirage::verify {
namespace {

double element(const void* context, size_t input, int64_t index) {
  const Witness& witness = *static_cast<const Witness*>(context);
  return witness_element(witness.seed, witness.scale, input, index);
}

bool has_shapes(const ir::Graph& graph, const std::vector<ir::Shape>& shapes) {
  if (graph.inputs.size() != shapes.size()) return false;
  for (size_t i = 0; i < shapes.size(); ++i)
    if (graph.type(graph.inputs[i]).shape != shapes[i]) return false;
  return true;
}

}  // namespace

Result<void> replay(const ir::Graph& reference, const ir::Graph& candidate,
                    const Verdict& verdict) {
  if (!verdict.witness) return bad_input("replay: the verdict has no witness");
  const Witness& witness = *verdict.witness;
  ir::GraphPtr a = std::make_shared<const ir::Graph>(reference);
  ir::GraphPtr b = std::make_shared<const ir::Graph>(candidate);
  if (!has_shapes(reference, witness.input_shapes)) {
    MIRAGE_TRY(const SmallPair pair, shrink(reference, candidate));
    a = pair.reference;
    b = pair.candidate;
    if (!has_shapes(*a, witness.input_shapes))
      return bad_input("replay: the witness has other input shapes than the pair");
  }
  if (witness.output >= verdict.output_order.size())
    return bad_input("replay: the witness names output {} of {}", witness.output,
                     verdict.output_order.size());
  interp::LazyEvaluator first(a, element, &witness), second(b, element, &witness);
  MIRAGE_TRY(const double x, first.output(witness.output, witness.entry));
  MIRAGE_TRY(const double y, second.output(verdict.output_order[witness.output], witness.entry));
  const bool differs = std::isnan(y) ? !std::isnan(x) : std::fabs(x - y) > witness.bound;
  if (!differs)
    return fail(Code::Mismatch, "replay: the program gives {:.17g}, the candidate {:.17g}", x, y);
  return {};
}

}  // namespace mirage::verify
