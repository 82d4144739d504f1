#include "verify/verify.h"

namespace mirage::verify {

class Verifier {
 public:
  static Verified make(ir::GraphPtr reference, ir::GraphPtr candidate, Verdict verdict) {
    return Verified(std::move(reference), std::move(candidate), std::move(verdict));
  }
};

Result<Verdict> verify(const ir::Graph& reference, const ir::Graph& candidate,
                       const VerifyOptions&) {
  if (reference.inputs.size() != candidate.inputs.size())
    return bad_input("verify: the program has {} inputs, the candidate {}", reference.inputs.size(),
                     candidate.inputs.size());
  if (reference.outputs.size() != candidate.outputs.size())
    return bad_input("verify: the program has {} outputs, the candidate {}",
                     reference.outputs.size(), candidate.outputs.size());
  for (size_t i = 0; i < reference.inputs.size(); ++i) {
    const ir::TensorType& expected = reference.type(reference.inputs[i]);
    const ir::TensorType& found = candidate.type(candidate.inputs[i]);
    if (expected.shape != found.shape)
      return bad_input("verify: input {} is {} in the program and {} in the candidate", i,
                       to_string(expected), to_string(found));
  }
  Verdict verdict;
  if (reference.hash == candidate.hash) {
    verdict.answer = Answer::Equivalent;
    verdict.method = Method::Identical;
    verdict.all_sizes = true;
    for (size_t i = 0; i < reference.outputs.size(); ++i) verdict.output_order.push_back(i);
    return verdict;
  }
  verdict.reason = "no strategy applies";
  return verdict;
}

Result<Verified> verified(ir::GraphPtr reference, ir::GraphPtr candidate,
                          const VerifyOptions& options) {
  MIRAGE_TRY(Verdict verdict, verify(*reference, *candidate, options));
  if (!verdict.is_equivalent())
    return fail(Code::Mismatch, "candidate is not verified: {}", to_string(verdict));
  return Verifier::make(std::move(reference), std::move(candidate), std::move(verdict));
}

}  // namespace mirage::verify
