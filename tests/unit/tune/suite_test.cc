#include "tune/suite.h"

#include <gtest/gtest.h>

#include "ir/builder.h"

namespace mirage::tune {
namespace {

ir::GraphPtr product() {
  ir::GraphBuilder b;
  const auto x = *b.input({ir::DType::F32, {8, 16}}), y = *b.input({ir::DType::F32, {16, 4}});
  (void)*b.add(ir::OpKind::MatMul, {x, y});
  return *b.finish();
}

TEST(Suite, HasEveryFamily) {
  const ir::GraphPtr program = product();
  const auto suite = make_suite(program, *program, {});
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->cases.size(), all_families().size());
  EXPECT_TRUE(suite->skipped.empty());
  EXPECT_EQ(suite->spot_checks, SuiteOptions{}.spot_checks);
}

TEST(Suite, WhereFloat64OverflowsOnTheWayNothingIsConfirmed) {
  ir::GraphBuilder b;
  const auto x = *b.input({ir::DType::F32, {64, 64}});
  const auto large = *b.add(ir::OpKind::Mul, {x, *b.constant(1000)});
  const auto larger = *b.add(ir::OpKind::Add, {large, *b.constant(1)});
  (void)*b.add(ir::OpKind::Div,
               {*b.add(ir::OpKind::Exp, {large}), *b.add(ir::OpKind::Exp, {larger})});
  const ir::GraphPtr program = *b.finish();
  const auto suite = make_suite(program, *program, {});
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_LT(suite->spot_checks, SuiteOptions{}.spot_checks);
}

TEST(Suite, WithoutTimeTheFirstFamilyStaysAndTheOthersAreNamed) {
  const ir::GraphPtr program = product();
  SuiteOptions options;
  options.time_limit_seconds = 0;
  const auto suite = make_suite(program, *program, options);
  ASSERT_TRUE(suite) << suite.error().message;
  ASSERT_EQ(suite->cases.size(), 1u);
  EXPECT_EQ(suite->cases[0].family, Family::Ordinary);
  EXPECT_EQ(suite->skipped.size(), all_families().size() - 1);
}

TEST(Suite, AtTheDeadlineNothingCountsAsAReference) {
  const ir::GraphPtr program = product();
  SuiteOptions options;
  options.deadline = Deadline::in_seconds(0);
  const auto suite = make_suite(program, *program, options);
  ASSERT_FALSE(suite);
  EXPECT_EQ(suite.error().code, Code::Timeout);
}

}  // namespace
}  // namespace mirage::tune
