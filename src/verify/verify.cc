#include "verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "algebra/prove.h"
#include "interp/domain_field.h"
#include "verify/constants.h"
#include "verify/explain.h"
#include "verify/field_check.h"
#include "verify/known_signs.h"
#include "verify/partial.h"
#include "verify/real_size.h"
#include "verify/shrink.h"
#include "verify/witness.h"

namespace mirage::verify {

class Verifier {
 public:
  Verifier(const ir::Graph& reference, const ir::Graph& candidate, const VerifyOptions& options)
      : reference_(reference), candidate_(candidate), options_(options) {}

  static Verified make(ir::GraphPtr reference, ir::GraphPtr candidate, Verdict verdict) {
    return Verified(std::move(reference), std::move(candidate), std::move(verdict));
  }

  Verdict run() {
    identity_order();
    if (reference_.hash == candidate_.hash) {
      verdict_.answer = Answer::Equivalent;
      verdict_.method = Method::Identical;
      verdict_.all_sizes = true;
      return verdict_;
    }
    if (const std::string why = output_mismatch(); !why.empty()) return unknown(why);
    judge_by_field();
    if (options_.use_proof && verdict_.answer != Answer::Different) judge_by_proof();
    if (verdict_.is_equivalent() && options_.real_size_work > 0) real_size();
    return verdict_;
  }

 private:
  static constexpr double kSmallWorkLimit = 3e7;
  static constexpr int kUnboundedTrials = 3;  // as a typical program needs for its bound, and one
  static constexpr int kWitnessAttempts = 8;
  // The one trial with multiplicities draws other numbers than those without.
  static constexpr uint64_t kMultiplicityStream = 77;
  enum class Domain : uint8_t { NotExamined, Examined, Objection };

  void judge_by_field() {
    Result<SmallPair> pair = shrink(reference_, candidate_);
    if (!pair) {
      unknown("the pair has no small model: " + pair.error().message);
      return;
    }
    verdict_.notes = pair->notes;
    // What an entry depends on is kept as a set of input entries, so that work grows with both.
    double entries = 0;
    for (ir::ValueId input : pair->reference->inputs)
      entries += static_cast<double>(ir::element_count(pair->reference->type(input).shape));
    const double work = small_work(*pair->reference) + small_work(*pair->candidate);
    if (work * (1 + entries / 256) > kSmallWorkLimit) {
      unknown("the small model is too large");
      return;
    }
    field(*pair);
  }

  /// A proof for all sizes where the field test alone would claim these sizes only, or nothing. It
  /// knows nothing of domains: the field test must have found no objection, or nothing be partial.
  void judge_by_proof() {
    if (verdict_.is_equivalent() && verdict_.all_sizes && verdict_.log2_error_bound < 0) return;
    if (domain_ == Domain::Objection) return;
    if (domain_ == Domain::NotExamined && is_partial(candidate_)) return;
    algebra::Proof proof = algebra::prove_equal(reference_, candidate_);
    if (proof.scope == algebra::Scope::NotProved) return;
    verdict_.answer = Answer::Equivalent;
    verdict_.method = Method::NormalForm;
    verdict_.reason.clear();
    verdict_.all_sizes = verdict_.all_sizes || proof.scope == algebra::Scope::AllSizes;
    if (!proof.output_order.empty()) verdict_.output_order = std::move(proof.output_order);
    verdict_.uninterpreted = std::move(proof.uninterpreted);
    verdict_.notes.push_back("proof: " + proof.reason);
  }

  Verdict unknown(std::string reason) {
    verdict_.answer = Answer::Unknown;
    verdict_.method = Method::None;
    verdict_.all_sizes = false;
    verdict_.log2_error_bound = 0;
    verdict_.reason = std::move(reason);
    return verdict_;
  }

  void identity_order() {
    verdict_.output_order.clear();
    for (size_t i = 0; i < reference_.outputs.size(); ++i) verdict_.output_order.push_back(i);
  }

  /// Every output of the reference needs one of the candidate with its shape.
  std::string output_mismatch() const {
    const auto sorted = [](const ir::Graph& graph) {
      std::vector<ir::Shape> shapes;
      for (ir::ValueId output : graph.outputs) shapes.push_back(graph.type(output).shape);
      std::sort(shapes.begin(), shapes.end());
      return shapes;
    };
    if (sorted(reference_) != sorted(candidate_)) return "output shapes differ";
    for (const ir::Graph* graph : {&reference_, &candidate_})
      for (const ir::Value& value : graph->values)
        for (int64_t extent : value.type.shape)
          if (extent == 0) return "a tensor is empty";
    return {};
  }

  /// Elementary operations of one evaluation, roughly.
  static double small_work(const ir::Graph& graph) {
    double runs = 1;
    for (const ir::Axis& axis : graph.launch.axes) runs *= static_cast<double>(axis.trips);
    double work = 0;
    for (const ir::Op& op : graph.ops) {
      if (op.body) work += small_work(*op.body);
      double elements = 1;
      for (ir::ValueId operand : op.operands)
        elements += static_cast<double>(ir::element_count(graph.type(operand).shape));
      if (op.kind == ir::OpKind::MatMul)
        elements += static_cast<double>(ir::element_count(graph.type(op.results[0]).shape)) *
                    static_cast<double>(graph.type(op.operands[0]).shape.back());
      work += elements;
    }
    return work * runs;
  }

  /// An order of the candidate's outputs in which all are equal: the identity if possible.
  static bool match(const std::vector<std::vector<bool>>& equal, size_t i,
                    std::vector<size_t>& order) {
    if (i == equal.size()) return true;
    std::vector<size_t> choices = {i};
    for (size_t j = 0; j < equal.size(); ++j)
      if (j != i) choices.push_back(j);
    for (size_t j : choices) {
      if (!equal[i][j] || std::find(order.begin(), order.end(), j) != order.end()) continue;
      order.push_back(j);
      if (match(equal, i + 1, order)) return true;
      order.pop_back();
    }
    return false;
  }

  struct Outcome {
    bool is_equal = false;   // all outputs, in some order
    bool is_defined = true;  // false: no inputs were found on which both are defined
    std::string error;
  };
  /// Trials until the bound is reached or one differs.
  Outcome trials(FieldCheck& check) {
    std::vector<std::vector<bool>> equal;
    double log2_error = 0;
    bool is_bounded = true;
    int count = 0;
    const auto is_enough = [&] {
      return count == options_.max_trials ||
             (is_bounded ? count > 0 && log2_error <= options_.log2_target
                         : count >= kUnboundedTrials);
    };
    for (; !is_enough(); ++count) {
      const uint64_t seed = interp::mix(options_.seed, static_cast<uint64_t>(count));
      Result<FieldTrial> trial = check.trial(seed);
      if (!trial) return {false, true, trial.error().message};
      if (!trial->is_defined) return {false, false, {}};
      if (equal.empty()) equal = trial->equal;
      for (size_t a = 0; a < equal.size(); ++a)
        for (size_t b = 0; b < equal.size(); ++b) equal[a][b] = equal[a][b] && trial->equal[a][b];
      std::vector<size_t> order;
      if (!match(equal, 0, order)) return {};
      verdict_.output_order = order;
      is_bounded = is_bounded && trial->log2_error < 0;
      log2_error += trial->log2_error;
    }
    verdict_.trials = count;
    if (is_bounded) verdict_.log2_error_bound = log2_error;
    return {true, true, {}};
  }

  void field(const SmallPair& pair) {
    const auto check = make_field_check(*pair.reference, *pair.candidate);
    const Outcome outcome = trials(*check);
    verdict_.uninterpreted = check->uninterpreted();
    if (!outcome.error.empty()) {
      unknown(outcome.error);
      return;
    }
    if (!outcome.is_equal) {
      identity_order();
      differ(pair, outcome.is_defined);
      if (verdict_.answer != Answer::Unknown || equal_with_known_signs(pair)) return;
      if (check->examine())
        domain_ = check->domain_objection().empty() ? Domain::Examined : Domain::Objection;
      return;
    }
    conclude(pair, *check);
  }

  /// Again, with what is known of signs over the reals.
  bool equal_with_known_signs(const SmallPair& pair) {
    Result<SmallPair> signed_pair = with_signs(pair);
    if (!signed_pair ||
        (signed_pair->reference == pair.reference && signed_pair->candidate == pair.candidate))
      return false;
    const auto check = make_field_check(*signed_pair->reference, *signed_pair->candidate);
    if (!trials(*check).is_equal) {
      identity_order();
      return false;
    }
    has_known_signs_ = true;
    verdict_.log2_error_bound = 0;
    conclude(*signed_pair, *check);
    return true;
  }

  Result<SmallPair> with_signs(const SmallPair& pair) const {
    SmallPair result = pair;
    const size_t inputs = reference_.inputs.size();
    MIRAGE_TRY(result.reference, with_known_signs(pair.reference, inputs));
    MIRAGE_TRY(result.candidate, with_known_signs(pair.candidate, inputs));
    return result;
  }

  /// The verdict where all trials were equal.
  void conclude(const SmallPair& pair, FieldCheck& check) {
    if (const std::string& objection = check.domain_objection(); !objection.empty()) {
      domain_ = Domain::Objection;
      unknown(objection);
      return;
    }
    domain_ = Domain::Examined;
    if (differs_at_the_small_size(pair)) return;
    if (has_known_signs_)
      verdict_.notes.push_back("no bound: squares stand for values that are never negative");
    else if (verdict_.log2_error_bound == 0 && !check.bound_reason().empty())
      verdict_.notes.push_back(check.bound_reason());
    verdict_.method = Method::Field;
    verdict_.answer = Answer::Equivalent;
    verdict_.reason.clear();
    verdict_.all_sizes = pair.is_large_enough;
    if (!check.families_are_disjoint()) {
      verdict_.all_sizes = false;
      verdict_.notes.push_back(
          "these sizes only: exponents, roots or denominators at different indices share their "
          "inputs");
    }
    if (verdict_.all_sizes) check_all_sizes(pair.is_real);
  }

  /// All sizes are claimed only if equality also holds where positions stand for any number of
  /// equal ones; where only as many for equal extents, or nothing was shrunk, it is these sizes.
  /// Otherwise two extents happen to be equal at the small size.
  void check_all_sizes(bool is_real) {
    std::string why;
    const auto is_equal = [&](Multiplicities multiplicities) {
      return is_equal_with(reference_, candidate_, multiplicities, why);
    };
    if (is_equal(Multiplicities::ByClass)) return;
    verdict_.all_sizes = false;
    if (!why.empty() || is_real || is_equal(Multiplicities::ByExtent)) {
      verdict_.notes.push_back("these sizes only: " +
                               (why.empty() ? "not equal with other multiplicities" : why));
    } else if (!differs_at_the_real_size()) {
      unknown("equal at one small size, but not with other multiplicities");
    }
  }

  /// `why`: what kept the small model from getting multiplicities.
  bool is_equal_with(const ir::Graph& reference, const ir::Graph& candidate,
                     Multiplicities multiplicities, std::string& why) const {
    Result<SmallPair> pair = shrink(reference, candidate, multiplicities);
    if (pair && has_known_signs_) pair = with_signs(*pair);
    if (!pair) {
      why = pair.error().message;
      return false;
    }
    const auto check = make_field_check(*pair->reference, *pair->candidate);
    const auto trial = check->trial(interp::mix(options_.seed, kMultiplicityStream), false);
    std::vector<size_t> order;
    return trial && trial->is_defined && match(trial->equal, 0, order);
  }

  void real_size() {
    const Result<RealSizeCheck> check = check_real_size(
        reference_, candidate_, verdict_.output_order, options_.seed, options_.real_size_work);
    if (!check) {
      unknown("at the real size: " + check.error().message);
      return;
    }
    if (check->difference) {
      differ_with(*check->difference, "at the real size: ");
      return;
    }
    verdict_.real_size_entries = check->compared;
    verdict_.notes.push_back(fmt::format("real size: {} entries agree{}", check->compared,
                                         check->is_complete ? "" : " (others cost too much)"));
  }

  bool differs_at_the_small_size(const SmallPair& pair) {
    Result<std::optional<Witness>> found = find_witness(
        *pair.reference, *pair.candidate, verdict_.output_order, options_.seed, kWitnessAttempts);
    if (!found || !*found) return false;
    differ_with(**found, {});
    return true;
  }

  bool differs_at_the_real_size() {
    const Result<RealSizeCheck> check = check_real_size(
        reference_, candidate_, verdict_.output_order, options_.seed, kThoroughWork);
    if (!check || !check->difference) return false;
    differ_with(*check->difference, "at the real size: ");
    return true;
  }

  void differ_with(Witness witness, const std::string& where) {
    witness.text = where + explain(reference_, candidate_, witness);
    verdict_.answer = Answer::Different;
    verdict_.method = Method::Witness;
    verdict_.all_sizes = false;
    verdict_.log2_error_bound = 0;
    verdict_.reason = witness.text;
    verdict_.witness = std::move(witness);
  }

  void differ(const SmallPair& pair, bool is_defined) {
    // A literal that is an extent of the real program means something else in the small model.
    const bool is_tied = has_extent_constants(reference_, candidate_);
    if (!is_tied && differs_at_the_small_size(pair)) return;
    if (differs_at_the_real_size()) return;
    if (is_tied && tied()) return;
    unknown(is_defined
                ? "the field test differs, but no inputs over the reals were found that show it"
                : "no inputs were found on which both are defined");
  }

  /// Literals that are extents follow their extents into the small model; equality then holds for
  /// these sizes only.
  bool tied() {
    const Result<ir::GraphPtr> a = tie_constants(reference_), b = tie_constants(candidate_);
    if (!a || !b) return false;
    const Result<SmallPair> pair = shrink(**a, **b);
    if (!pair) return false;
    const auto check = make_field_check(*pair->reference, *pair->candidate);
    if (!trials(*check).is_equal || !check->domain_objection().empty()) return false;
    if (std::string why; !is_equal_with(**a, **b, Multiplicities::ByExtent, why)) return false;
    verdict_.answer = Answer::Equivalent;
    verdict_.method = Method::Field;
    verdict_.all_sizes = false;
    verdict_.reason.clear();
    verdict_.uninterpreted = check->uninterpreted();
    verdict_.notes.push_back("these sizes only: a literal stands for an extent");
    return true;
  }

  const ir::Graph& reference_;
  const ir::Graph& candidate_;
  const VerifyOptions& options_;
  Verdict verdict_;
  Domain domain_ = Domain::NotExamined;
  bool has_known_signs_ = false;
};

Result<Verdict> verify(const ir::Graph& reference, const ir::Graph& candidate,
                       const VerifyOptions& options) {
  for (const ir::Graph* graph : {&reference, &candidate})
    if (graph->level != ir::Level::Kernel)
      return bad_input("verify: expected kernel graphs, found a {} graph", name_of(graph->level));
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
  return Verifier(reference, candidate, options).run();
}

Result<Verified> verified(ir::GraphPtr reference, ir::GraphPtr candidate,
                          const VerifyOptions& options) {
  MIRAGE_TRY(Verdict verdict, verify(*reference, *candidate, options));
  if (!verdict.is_equivalent()) {
    const bool is_different = verdict.answer == Answer::Different;
    return fail(is_different ? Code::Mismatch : Code::Unsupported, "candidate is not verified: {}",
                to_string(verdict));
  }
  return Verifier::make(std::move(reference), std::move(candidate), std::move(verdict));
}

}  // namespace mirage::verify
