#include "optimize/report.h"

#include <algorithm>

namespace mirage::optimize {

std::string_view name_of(Stage stage) {
  switch (stage) {
    case Stage::Search:
      return "search";
    case Stage::Verify:
      return "verify";
    case Stage::Lower:
      return "lower";
    case Stage::Emit:
      return "emit";
    case Stage::Compile:
      return "compile";
    case Stage::Check:
      return "check";
    case Stage::Time:
      return "time";
  }
  return "?";
}

std::string_view name_of(Stop stop) {
  switch (stop) {
    case Stop::Complete:
      return "complete";
    case Stop::TimeLimit:
      return "time limit";
    case Stop::Cancelled:
      return "cancelled";
  }
  return "?";
}

std::vector<size_t> ranking(const Report& report) {
  const std::vector<CandidateReport>& rows = report.candidates;
  std::vector<size_t> order;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].is_timed) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (rows[a].round != rows[b].round) return rows[a].round > rows[b].round;
    return rows[a].timing.median_us < rows[b].timing.median_us;
  });
  return order;
}

}  // namespace mirage::optimize
