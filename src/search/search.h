#pragma once
// Finds the single-kernel graphs of a program: saturates its values once, and for each assignment
// of roles to index classes extracts the cheapest plans. No tile size and no device appears here;
// see cost.h for schedules. docs/search.md has the method and what "found" means.

#include <array>
#include <atomic>

#include "search/structure.h"

namespace mirage::search {

struct SearchOptions {
  size_t max_structures = 64;
  size_t max_plans_per_assignment = 8;
  size_t max_operators = 40;
  size_t max_nodes = 2'000;
  /// Also plans with differences of values that the program does not subtract (numerically unsafe).
  bool new_differences = false;
  double time_limit_seconds = 10;
  int threads = 1;
  uint64_t seed = 0;  // of the random inputs by which values are told apart
  const std::atomic<bool>* cancel = nullptr;
};

/// Why a candidate value or a plan was dropped.
enum class Dropped : uint8_t {
  Useless,      // no sub-expression of a target
  Dishonest,    // constant along an axis it has
  NonMonotone,  // undoes an operator
  Undefined,    // the algebra has no meaning for it, or it is too large
  Unreachable,  // an assignment under which no kernel computes every target
  Detour,       // a plan that does all the work of a cheaper one and more
  Invalid,      // a plan that is no block graph, for instance a stored constant
  Cancelling,   // an operator: a difference that the program does not compute
};
constexpr size_t kDroppedReasons = 8;
std::string_view name_of(Dropped reason);
/// For a reader who does not know the names.
std::string_view meaning_of(Dropped reason);

enum class Stop : uint8_t { Complete, TimeLimit, NodeLimit, Cancelled };
std::string_view name_of(Stop stop);

struct SearchStats {
  size_t assignments = 0;
  size_t fused_assignments = 0;  // those with at least one plan
  size_t nodes = 0;
  size_t edges = 0;
  size_t candidates = 0;
  std::array<size_t, kDroppedReasons> dropped{};
  size_t plans = 0;
  bool used_algebra = false;  // false: only the program's own values and operators
  Stop stop = Stop::Complete;
  double seconds = 0;
};

struct SearchResult {
  std::vector<Structure> structures;  // cheapest plan first
  SearchStats stats;
  std::string reason;  // why there are none, or why the algebra was not used; else empty
};

/// An empty result with a reason where the program is outside what the search knows. Same options,
/// same result, whatever the number of threads, unless time or cancellation stops it.
Result<SearchResult> search(const ir::Graph& program, const SearchOptions& options);

}  // namespace mirage::search
