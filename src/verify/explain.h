#pragma once
// Why two programs differ, in words.

#include <string>

#include "verify/verdict.h"

namespace mirage::verify {

/// The values at the witness, and, where it can be seen, an input axis that only one of the two
/// contracts.
std::string explain(const ir::Graph& reference, const ir::Graph& candidate, const Witness& witness);

}  // namespace mirage::verify
