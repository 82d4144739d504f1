#include "util/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "util/rng.h"

namespace mirage {
namespace {

using Pieces = std::vector<std::pair<int64_t, int64_t>>;

Pieces pieces_of(int threads, int64_t count, int64_t least) {
  std::mutex mutex;
  Pieces pieces;
  in_parallel(threads, count, least, [&](int64_t first, int64_t last) {
    const std::lock_guard lock(mutex);
    pieces.emplace_back(first, last);
  });
  std::sort(pieces.begin(), pieces.end());
  return pieces;
}

TEST(InParallel, PiecesMakeUpTheRange) {
  for (int threads : {-1, 0, 1, 2, 3, 7})
    for (int64_t count : {0, 1, 2, 5, 64, 1000})
      for (int64_t least : {0, 1, 3, 64}) {
        SCOPED_TRACE(testing::Message() << threads << " threads, " << count << " of " << least);
        const Pieces pieces = pieces_of(threads, count, least);
        ASSERT_LE(pieces.size(), static_cast<size_t>(std::max(threads, 1)));
        int64_t next = 0;
        for (const auto& [first, last] : pieces) {
          EXPECT_EQ(first, next);
          next = last;
          if (pieces.size() > 1) {
            EXPECT_GE(last - first, std::max<int64_t>(least, 1));
          }
        }
        EXPECT_EQ(next, count);
      }
}

TEST(InParallel, UsesAllThreadsWhereThereIsEnoughWork) {
  EXPECT_EQ(pieces_of(4, 10, 1), (Pieces{{0, 3}, {3, 6}, {6, 8}, {8, 10}}));
  EXPECT_EQ(pieces_of(4, 10, 5), (Pieces{{0, 5}, {5, 10}}));
}

TEST(InParallel, ReturnsWhenAllIsDone) {
  std::atomic<int64_t> sum = 0;
  in_parallel(8, 1000, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) sum += i;
  });
  EXPECT_EQ(sum, 499500);
}

TEST(Rng, SkipIsAsManyDraws) {
  for (uint64_t count : {0, 1, 2, 1000}) {
    Rng drawn(7), skipped(7);
    for (uint64_t i = 0; i < count; ++i) drawn.next();
    skipped.skip(count);
    EXPECT_EQ(drawn.next(), skipped.next());
  }
}

}  // namespace
}  // namespace mirage
