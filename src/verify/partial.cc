#include "verify/partial.h"

#include <algorithm>

#include "verify/domain_sign.h"

namespace mirage::verify {
namespace {

bool is_partial(const ir::Op& op) {
  if (op.body) return verify::is_partial(*op.body);
  if (ir::def(op.kind).form != ir::Form::Map) return false;
  SignDomain domain;
  std::vector<SignDomain::Value> operands;
  for (size_t i = 0; i < op.operands.size(); ++i) operands.push_back(domain.fresh());
  ir::eval_map(op.kind, domain, op.attrs, std::span<const SignDomain::Value>(operands));
  const auto all_are = [](const std::vector<Sign>& signs, Sign weakest) {
    return std::all_of(signs.begin(), signs.end(), [&](Sign sign) { return sign <= weakest; });
  };
  return !all_are(domain.denominators(), Sign::Positive) ||
         !all_are(domain.radicands(), Sign::NonNegative) ||
         !all_are(domain.partials(), Sign::Positive);
}

}  // namespace

bool is_partial(const ir::Graph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(),
                     [](const ir::Op& op) { return is_partial(op); });
}

}  // namespace mirage::verify
