#pragma once
// Proofs of equality of two kernel-level graphs by their normal forms. An answer NotProved says
// nothing about the graphs: the field test of verify decides then.

#include <string>
#include <vector>

#include "algebra/normal_form.h"
#include "ir/graph.h"

namespace mirage::algebra {

enum class Scope : uint8_t { AllSizes, TheseSizes, NotProved };

struct Proof {
  Scope scope = Scope::NotProved;
  /// Output i of the reference is output output_order[i] of the candidate.
  std::vector<size_t> output_order;
  std::string reason;  // why not, or how: "equal normal forms", "equal after cross multiplication"
  std::string certificate;                 // both normal forms, readable
  std::vector<std::string> uninterpreted;  // of both graphs
};

struct ProveOptions {
  Limits limits{.work = size_t{1} << 18};  // a second or so in the worst case
  bool certificate = false;                // write the text (also when not proved)
};

Proof prove_equal(const ir::Graph& reference, const ir::Graph& candidate,
                  const ProveOptions& options = {});

/// Whether a - b vanishes, also after multiplying by every denominator in sight.
bool equal_after_cross_multiplication(Arena& arena, Nf a, Nf b);

/// Names of inputs and index nodes in printed forms; missing names become X0, X1, ...
struct PrintNames {
  std::vector<std::string> inputs;
};
/// Cut off (with "...") after some thousand factors.
std::string to_string(const Arena& arena, Nf form, const PrintNames& names = {});

}  // namespace mirage::algebra
