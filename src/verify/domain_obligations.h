#pragma once
// Is the candidate defined wherever the program is? What its denominators, radicands, bases of
// powers and arguments of logarithms must be, they are by their form, or because the program asks
// the same of them.

#include <string>

#include "interp/domain_field.h"
#include "ir/graph.h"
#include "util/result.h"

namespace mirage::verify {

/// Empty, or which obligation of the candidate is not met. `records` are those of two runs on
/// different inputs: by run, then the reference's and the candidate's; `p` is the prime of level 0.
Result<std::string> unmet_obligation(const ir::Graph& reference, const ir::Graph& candidate,
                                     const interp::FieldRecord (&records)[2][2],
                                     const interp::Prime& p);

}  // namespace mirage::verify
