#include "tune/time.h"

#include <gtest/gtest.h>

namespace mirage::tune {
namespace {

Result<Timing> time_calls(const std::function<Result<void>()>& call, const TimeOptions& options) {
  MIRAGE_TRY(const Sampler sampler, sampler_of(call, options));
  MIRAGE_TRY(const std::vector<Timing> timings, take_samples({&sampler, 1}, options));
  return timings[0];
}

TEST(Time, SummaryOfSamples) {
  const Timing timing = summarize({5, 1, 4, 2, 3, 6, 7, 8, 9, 10, 100});
  EXPECT_EQ(timing.median_us, 6);
  EXPECT_EQ(timing.low_us, 2);
  EXPECT_EQ(timing.high_us, 10);
  EXPECT_EQ(timing.median_low_us, 3);
  EXPECT_EQ(timing.median_high_us, 9);
  EXPECT_EQ(timing.samples, 11);
  EXPECT_EQ(summarize({}).samples, 0);
}

TEST(Time, FewSamplesLeaveTheMedianOpen) {
  const Timing five = summarize({5, 1, 4, 2, 3});
  EXPECT_EQ(five.median_low_us, 1);
  EXPECT_EQ(five.median_high_us, 5);
  EXPECT_EQ(summarize({7}).median_high_us, 7);
  std::vector<double> many;
  for (int i = 1; i <= 400; ++i) many.push_back(i);
  EXPECT_GT(summarize(many).median_low_us, 170);
  EXPECT_LT(summarize(many).median_high_us, 231);
}

TEST(Time, TakesTheSamplesItWasAskedFor) {
  TimeOptions options;
  options.warm_up = std::chrono::milliseconds(0);
  options.budget = std::chrono::milliseconds(0);
  options.min_samples = 3;
  options.min_sample = std::chrono::microseconds(0);
  int calls = 0;
  const auto call = [&]() -> Result<void> { return ++calls, Result<void>(); };
  const Result<Timing> timing = time_calls(call, options);
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->samples, 3);
  EXPECT_EQ(calls, 4);  // one to warm up
}

TEST(Time, StopsAtTheFirstError) {
  const auto call = []() -> Result<void> { return fail(Code::RunFailed, "no"); };
  const Result<Timing> timing = time_calls(call, {});
  ASSERT_FALSE(timing);
  EXPECT_EQ(timing.error().code, Code::RunFailed);
}

}  // namespace
}  // namespace mirage::tune
