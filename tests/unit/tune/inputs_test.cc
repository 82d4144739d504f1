#include "tune/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/builder.h"
#include "tune/machine.h"

namespace mirage::tune {
namespace {

ir::GraphPtr relu_of(ir::DType dtype, int64_t rows = 32) {
  ir::GraphBuilder builder;
  const ir::ValueId x = *builder.input({dtype, {rows, 16}});
  (void)*builder.add(ir::OpKind::Relu, {x});
  return *builder.finish();
}

TEST(Inputs, SameSeedSameBytes) {
  const ir::GraphPtr graph = relu_of(ir::DType::F32);
  for (Family family : all_families()) {
    const auto a = *make_inputs(*graph, family, 7), b = *make_inputs(*graph, family, 7);
    EXPECT_EQ(std::memcmp(a[0].memory(), b[0].memory(), a[0].bytes()), 0) << name_of(family);
  }
  const auto a = *make_inputs(*graph, Family::Ordinary, 7),
             b = *make_inputs(*graph, Family::Ordinary, 8);
  EXPECT_NE(std::memcmp(a[0].memory(), b[0].memory(), a[0].bytes()), 0);
}

TEST(Inputs, SameBytesWithAnyNumberOfThreads) {
  const ir::GraphPtr graph = relu_of(ir::DType::F16, 20001);  // more than one thread takes
  for (Family family : all_families()) {
    const auto one = *make_inputs(*graph, family, 7, 1), many = *make_inputs(*graph, family, 7, 3);
    EXPECT_EQ(std::memcmp(one[0].memory(), many[0].memory(), one[0].bytes()), 0) << name_of(family);
  }
}

TEST(Inputs, MoreThanTheMemoryIsRefusedBeforeItIsFilled) {
  ir::GraphBuilder builder;
  const ir::ValueId x = *builder.input({ir::DType::I8, {memory_bytes() / 4}});
  (void)*builder.add(ir::OpKind::Relu, {x});
  const auto inputs = make_inputs(**builder.finish(), Family::Ordinary, 1);
  ASSERT_FALSE(inputs);
  EXPECT_EQ(inputs.error().code, Code::LimitExceeded);
}

TEST(Inputs, FamiliesAreWhatTheySay) {
  const ir::GraphPtr graph = relu_of(ir::DType::F16);
  const auto values = [&](Family family) {
    return (*make_inputs(*graph, family, 1))[0].to_doubles();
  };
  const auto count = [&](Family family, auto claim) {
    const std::vector<double> all = values(family);
    return std::count_if(all.begin(), all.end(), claim);
  };
  EXPECT_EQ(count(Family::Ordinary, [](double x) { return std::fabs(x) < 4; }), 512);
  EXPECT_EQ(count(Family::Large, [](double x) { return std::fabs(x) > 5000 && std::isfinite(x); }),
            512);
  EXPECT_EQ(count(Family::Equal, [](double x) { return x == 0.625; }), 512);
  EXPECT_EQ(count(Family::Dominant, [](double x) { return x == 50; }), 32);
  EXPECT_EQ(count(Family::Zeros, [](double x) { return x == 0; }), 256);
  EXPECT_EQ(count(Family::Subnormal, [](double x) { return std::fabs(x) <= 0x1p-14; }), 512);
  EXPECT_EQ(count(Family::NotANumber, [](double x) { return std::isnan(x); }), 1);
  EXPECT_GE(count(Family::Infinite, [](double x) { return std::isinf(x); }), 16);
}

}  // namespace
}  // namespace mirage::tune
