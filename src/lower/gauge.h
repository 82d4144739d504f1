#pragma once
// The gauge: exponentials that are divided out later are computed relative to a maximum, so that
// they cannot overflow (safe softmax, online softmax), also where the user wrote a bare exp.

#include "ir/graph.h"
#include "util/result.h"

namespace mirage::lower {

/// A graph of the same meaning in exact arithmetic in which exponentials are shifted. Every value
/// has a gauge weight w: it is exp(-w * shift) times what it was. Weights follow from the
/// operators; where they do not fit together the exponential stays as it is.
Result<ir::GraphPtr> make_safe(const ir::GraphPtr& graph);

}  // namespace mirage::lower
