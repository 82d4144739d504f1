#include "lower/views.h"

#include <gtest/gtest.h>

namespace mirage::lower {
namespace {

using ir::Strides;

TEST(ReshapedStrides, SplitsAndMergesRuns) {
  EXPECT_EQ(reshaped_strides({6, 4}, {4, 1}, {2, 3, 4}), (Strides{12, 4, 1}));
  EXPECT_EQ(reshaped_strides({2, 3, 4}, {12, 4, 1}, {24}), (Strides{1}));
  EXPECT_EQ(reshaped_strides({6, 4}, {4, 1}, {1, 24, 1}), (Strides{0, 1, 0}));
}

TEST(ReshapedStrides, SplitsAnAxisOfATransposedTensor) {
  EXPECT_EQ(reshaped_strides({4, 6}, {1, 4}, {4, 2, 3}), (Strides{1, 12, 4}));
}

TEST(ReshapedStrides, MergingATransposedTensorNeedsACopy) {
  EXPECT_EQ(reshaped_strides({4, 6}, {1, 4}, {24}), std::nullopt);
}

TEST(ReshapedStrides, EmptyAndScalarTensors) {
  EXPECT_EQ(reshaped_strides({0, 4}, {4, 1}, {2, 0}), (Strides{1, 1}));
  EXPECT_EQ(reshaped_strides({1, 1}, {7, 9}, {}), (Strides{}));
}

}  // namespace
}  // namespace mirage::lower
