#pragma once
// Why the winner won: what its kernels and those of the program as written do.

#include "command.h"
#include "optimize/optimize.h"

namespace mirage::cli {

struct Explanation {
  std::string text;  // at most 80 columns before the winner's own text
  Json document;     // docs/schemas/explain.schema.json
};

Result<Explanation> explain(const optimize::Optimized& result);

}  // namespace mirage::cli
