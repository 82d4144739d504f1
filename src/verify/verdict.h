#pragma once
// What verification says about a pair of programs, and the type that only an equivalent pair can
// get. Values of plain data: lowering, tuning and reports read them without knowing how they were
// found.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace mirage::verify {

enum class Answer : uint8_t { Equivalent, Different, Unknown };
enum class Method : uint8_t {
  None,        // nothing could be decided
  Identical,   // structurally the same graph
  NormalForm,  // equal normal forms: a proof
  Field,       // random evaluation over finite fields at small sizes
  Witness,     // inputs over the reals on which the two differ
};
std::string_view name_of(Answer answer);
std::string_view name_of(Method method);

/// Inputs on which float64 evaluation of the two programs differs by more than `bound`, or the
/// candidate alone is NaN. Inputs are made by witness_inputs (verify/witness.h).
struct Witness {
  std::vector<ir::Shape> input_shapes;  // those of the small model or the real ones
  uint64_t seed = 0;
  double scale = 1;
  size_t output = 0;  // of the reference
  int64_t entry = 0;  // row-major
  double reference = 0;
  double candidate = 0;
  double bound = 0;  // at a small size both forward error bounds, at the real one a tolerance
  std::string text;  // for people
};

struct Verdict {
  Answer answer = Answer::Unknown;
  Method method = Method::None;
  /// log2 of the probability that a wrong pair passed the field test; 0: no bound is claimed.
  double log2_error_bound = 0;
  int trials = 0;
  /// Output entries that were compared at the real size.
  size_t real_size_entries = 0;
  /// The claim holds for all extents of the same structure, not only for these.
  bool all_sizes = false;
  /// output_order[i] is the candidate's output that computes output i of the reference.
  std::vector<size_t> output_order;
  /// Functions that were taken as unknown functions of their arguments.
  std::vector<std::string> uninterpreted;
  /// How each index class was shrunk and which preconditions of the small-size theorem hold.
  std::vector<std::string> notes;
  std::optional<Witness> witness;
  std::string reason;

  bool is_equivalent() const { return answer == Answer::Equivalent; }
};

/// One line for people.
std::string to_string(const Verdict& verdict);

class Verifier;

/// A graph that verification found equivalent to a program. Only verify::verified makes one.
class Verified {
 public:
  const ir::GraphPtr& graph() const { return graph_; }
  const ir::GraphPtr& reference() const { return reference_; }
  const Verdict& verdict() const { return verdict_; }

 private:
  friend class Verifier;
  Verified(ir::GraphPtr reference, ir::GraphPtr graph, Verdict verdict)
      : reference_(std::move(reference)), graph_(std::move(graph)), verdict_(std::move(verdict)) {}
  ir::GraphPtr reference_;
  ir::GraphPtr graph_;
  Verdict verdict_;
};

}  // namespace mirage::verify
