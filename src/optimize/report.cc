#include "optimize/report.h"

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

}  // namespace mirage::optimize
