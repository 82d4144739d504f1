#include "optimize/rounds.h"

#include <gmock/gmock.h>

namespace mirage::optimize {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

tune::Timing between(double low, double median, double high) {
  return {median, low, high, low, high, 9};
}

TEST(Rounds, TheFastestStayInOrder) {
  const std::vector<tune::Timing> timings = {between(9, 10, 11), between(1, 2, 3), between(4, 5, 6),
                                             between(29, 30, 31)};
  EXPECT_THAT(contenders(timings, 2, 0), ElementsAre(1, 2));
  EXPECT_THAT(contenders(timings, 9, 0), ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(contenders({}, 2, 0), IsEmpty());
}

TEST(Rounds, NobodyLeavesWithinNoise) {
  const std::vector<tune::Timing> timings = {between(9, 10, 11), between(10, 12, 13),
                                             between(11.5, 12, 13), between(10.9, 15, 20)};
  EXPECT_THAT(contenders(timings, 1, 0), ElementsAre(0, 1, 3));
  EXPECT_THAT(contenders(timings, 1, 0.1), ElementsAre(0, 1, 2, 3));
}

TEST(Rounds, TiesStay) {
  const std::vector<tune::Timing> timings(5, between(10, 10, 10));
  EXPECT_THAT(contenders(timings, 1, 0), ElementsAre(0, 1, 2, 3, 4));
}

}  // namespace
}  // namespace mirage::optimize
