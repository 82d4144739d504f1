#include "search/cost.h"

#include <gtest/gtest.h>

#include "search/search.h"
#include "unit/search/programs.h"

namespace mirage::search {
namespace {

TEST(Cost, SchedulesAreOrderedAndNotBelowTheRoofline) {
  for (const Program& program : programs()) {
    SCOPED_TRACE(program.name);
    const auto result = search(*program.build(), {});
    ASSERT_TRUE(result);
    for (const Structure& structure : result->structures) {
      const auto best = schedules(structure, {}, 20);
      ASSERT_FALSE(best.empty());
      for (size_t i = 0; i < best.size(); ++i) {
        EXPECT_GE(best[i].cost.seconds, best[i].cost.lower_bound_seconds);
        if (i > 0) {
          EXPECT_LE(best[i - 1].cost.seconds, best[i].cost.seconds);
        }
      }
    }
  }
}

TEST(Cost, FitTripsLeavesNoTileEmpty) {
  Expr e;
  e.exp(e.input({10, 7}, "x"));
  const auto result = search(*e.finish(), {});
  ASSERT_TRUE(result);
  for (const Structure& structure : result->structures)
    for (const StructureAxis& axis : structure.axes)
      for (int64_t wanted = -1; wanted < 20; ++wanted) {
        const int64_t trips = fit_trips(*structure.problem, axis, wanted);
        const int64_t tile = (axis.extent + trips - 1) / trips;
        EXPECT_GE(trips, 1);
        EXPECT_LT((trips - 1) * tile, axis.extent);
      }
}

}  // namespace
}  // namespace mirage::search
