#include "lower/gauge.h"

namespace mirage::lower {

Result<ir::GraphPtr> make_safe(const ir::GraphPtr& graph) { return graph; }

}  // namespace mirage::lower
