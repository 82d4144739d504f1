#pragma once
// A second look at a verdict's witness with other code than found it: the two programs are
// evaluated again on the witness's inputs in WideF64, without error bounds, and must differ as
// stated.

#include "util/result.h"
#include "verify/verdict.h"

namespace mirage::verify {

/// Nothing if the witness holds; Mismatch, with both values, if it does not.
Result<void> replay(const ir::Graph& reference, const ir::Graph& candidate, const Verdict& verdict);

}  // namespace mirage::verify
