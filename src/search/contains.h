#pragma once
// Is a given µGraph in the space of the search? Answers "found" in the sense of docs/search.md:
// every operator's value is a node of the saturated value graph, reachable in that state under the
// graph's own assignment of roles, and the result is the program's.

#include <string>

#include "search/closure.h"

namespace mirage::search {

enum class Containment : uint8_t { Yes, No, Unsupported };
std::string_view name_of(Containment answer);

struct ContainsResult {
  Containment answer = Containment::Unsupported;
  std::string reason;  // which operator, for No and Unsupported
};

/// A program saturated once, to ask about many graphs.
struct SearchSpace {
  ProblemPtr problem;
  Saturated saturated;
  SearchStats stats;
};
Result<SearchSpace> search_space(const ir::Graph& program, const SearchOptions& options);

/// Unsupported for graphs of several operators at kernel level. BadInput if the inputs or outputs
/// differ from the program's in number or shape.
Result<ContainsResult> contains(const SearchSpace& space, const ir::Graph& mugraph);
Result<ContainsResult> contains(const ir::Graph& program, const ir::Graph& mugraph,
                                const SearchOptions& options);

}  // namespace mirage::search
