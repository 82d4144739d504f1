#pragma once
// What a run would try, as source and no further: for back ends whose programs somebody else
// compiles and times, such as Triton's.

#include <string>
#include <vector>

#include "optimize/build.h"

namespace mirage::optimize {

struct CandidateOptions {
  std::string target;
  double time_limit_seconds = 10;  // of the search
  int top = 12;                    // candidates beside the program as written
  int threads = 0;                 // 0: all cores
  uint64_t seed = 1;
};

struct Candidates {
  std::vector<Built> built;       // without executables; [0] is the program as written
  std::vector<std::string> lost;  // why others are not there: stage and message
};

/// Proven equals of the program, the cheapest first by the cost model. An error is one of the
/// program as written, or of the target's name.
Result<Candidates> candidates(const ir::GraphPtr& program, const CandidateOptions& options);

}  // namespace mirage::optimize
