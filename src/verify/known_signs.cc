#include "verify/known_signs.h"

#include <algorithm>
#include <set>

#include "interp/evaluator.h"
#include "ir/builder.h"
#include "verify/domain_sign.h"

namespace mirage::verify {

Result<ir::GraphPtr> with_known_signs(const ir::GraphPtr& graph, size_t inputs) {
  std::set<size_t> factors;  // indices of values
  for (const ir::Op& op : graph->ops)
    if (op.kind == ir::OpKind::Square || op.kind == ir::OpKind::Pow ||
        (op.kind == ir::OpKind::Mul && op.operands[0] == op.operands[1]))
      factors.insert(op.operands[0].index);
  if (factors.empty()) return graph;
  interp::Evaluator<SignDomain> evaluator(*graph);
  SignDomain domain;
  evaluator.fill_inputs(
      [&](size_t i) { return domain.fresh(i < inputs ? Sign::Any : Sign::Positive); });
  MIRAGE_TRY_VOID(evaluator.run(domain));
  ir::GraphBuilder builder(*graph);
  bool is_changed = false;
  for (size_t index : factors) {
    const ir::ValueId id(index);
    const auto& entries = evaluator.value(id).data;
    if (std::any_of(entries.begin(), entries.end(),
                    [](const auto& entry) { return entry.sign == Sign::Any; }))
      continue;
    MIRAGE_TRY_VOID(builder.add(ir::OpKind::Sqrt, {id}));
    is_changed = true;
  }
  return is_changed ? builder.finish(graph->outputs) : graph;
}

}  // namespace mirage::verify
