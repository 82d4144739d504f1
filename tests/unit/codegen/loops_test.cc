#include "codegen/loops.h"

#include <gtest/gtest.h>

namespace mirage::codegen {
namespace {

using lower::Length;

TEST(ElementwiseNest, MergesWhatIsOneRun) {
  const ir::Strides strides = {12, 4, 1};
  const LoopNest nest = elementwise_nest({{2}, {3}, {4}}, {&strides, &strides});
  EXPECT_EQ(nest.col.length, Length{24});
  EXPECT_EQ(nest.row.length, Length{});
  EXPECT_TRUE(nest.outer.empty());
}

TEST(ElementwiseNest, BroadcastKeepsRowsApart) {
  const ir::Strides whole = {4, 1}, column = {1, 0};
  const LoopNest nest = elementwise_nest({{3}, {4}}, {&whole, &column});
  EXPECT_EQ(nest.col.length, Length{4});
  EXPECT_EQ(nest.row.length, Length{3});
}

TEST(ElementwiseNest, VectorsRunAlongContiguousResults) {
  const ir::Strides transposed = {1, 8};
  const LoopNest nest = elementwise_nest({{8}, {5}}, {&transposed, &transposed});
  EXPECT_EQ(nest.col.length, Length{8});
}

TEST(ElementwiseNest, RaggedAxesAreNotMergedInto) {
  const ir::Strides strides = {4, 1};
  const LoopNest nest = elementwise_nest({{3}, {4, 0}}, {&strides, &strides});
  EXPECT_EQ(nest.col.length, (Length{4, 0}));
  EXPECT_EQ(nest.row.length, Length{3});
}

TEST(ReduceNest, RunsAlongTheContiguousAxis) {
  const ir::Strides out = {1, 0}, in = {4, 1};
  EXPECT_TRUE(reduce_nest({{3}, {4}}, 1, {&out, &in}).along_cols);
  const ir::Strides out_row = {0, 1};
  const ReduceNest nest = reduce_nest({{3}, {4}}, 0, {&out_row, &in});
  EXPECT_FALSE(nest.along_cols);
  EXPECT_EQ(nest.kept.length, Length{4});
  EXPECT_EQ(nest.reduced.length, Length{3});
}

}  // namespace
}  // namespace mirage::codegen
