#include "search/phases.h"

#include <gtest/gtest.h>

namespace mirage::search {
namespace {

using ir::OpKind;

constexpr ClassId kM = 0, kK = 1, kN = 2;
const Assignment kLoopOverK{{kM}, {kK}};

std::optional<State> binary(OpKind kind, State a, const Dims& x, State b, const Dims& y,
                            const Dims& result) {
  const State states[] = {a, b};
  const Dims* dims[] = {&x, &y};
  return state_after(kind, {}, states, dims, result, kLoopOverK);
}

TEST(Phases, ContractionOverTheLoopIsAPartialSum) {
  EXPECT_EQ(binary(OpKind::MatMul, State::InLoop, {kM, kK}, State::InLoop, {kK, kN}, {kM, kN}),
            State::PartialSum);
}

TEST(Phases, PartialSumsMayOnlyBeScaledAndAdded) {
  const Dims d{kM, kN};
  EXPECT_EQ(binary(OpKind::Mul, State::PartialSum, d, State::Invariant, d, d), State::PartialSum);
  EXPECT_EQ(binary(OpKind::Mul, State::Invariant, d, State::PartialSum, d, d), State::PartialSum);
  EXPECT_EQ(binary(OpKind::Div, State::PartialSum, d, State::Invariant, d, d), State::PartialSum);
  EXPECT_EQ(binary(OpKind::Add, State::PartialSum, d, State::PartialSum, d, d), State::PartialSum);
  EXPECT_FALSE(binary(OpKind::Div, State::Invariant, d, State::PartialSum, d, d));
  EXPECT_FALSE(binary(OpKind::Add, State::PartialSum, d, State::Invariant, d, d));
  EXPECT_FALSE(binary(OpKind::Mul, State::PartialSum, d, State::PartialSum, d, d));
  EXPECT_FALSE(binary(OpKind::Mul, State::PartialSum, d, State::InLoop, {kM, kK}, d));
  EXPECT_FALSE(binary(OpKind::Mul, State::PartialMax, d, State::Invariant, d, d));
  const State partial[] = {State::PartialSum};
  const Dims* dims[] = {&d};
  EXPECT_FALSE(state_after(OpKind::Exp, {}, partial, dims, d, kLoopOverK));
}

TEST(Phases, LoopAndAfterDoNotMix) {
  const Dims d{kM, kN};
  EXPECT_FALSE(binary(OpKind::Add, State::AfterLoop, d, State::InLoop, {kM, kK}, d));
  EXPECT_EQ(binary(OpKind::Add, State::AfterLoop, d, State::Invariant, d, d), State::AfterLoop);
}

TEST(Phases, GridClassesAreNotReduced) {
  const Dims x{kM, kN};
  const State states[] = {State::Invariant};
  const Dims* dims[] = {&x};
  ir::Attrs over_m;
  over_m.axis = 0;
  EXPECT_FALSE(state_after(OpKind::Sum, over_m, states, dims, {kNoClass, kN}, kLoopOverK));
  ir::Attrs over_n;
  over_n.axis = 1;
  EXPECT_EQ(state_after(OpKind::Sum, over_n, states, dims, {kM, kNoClass}, kLoopOverK),
            State::Invariant);
}

TEST(Phases, AValueOfTwoLoopClassesIsDropped) {
  const Assignment both{{}, {kK, kN}};
  EXPECT_FALSE(complete_state({kK, kN}, false, both));
  EXPECT_EQ(complete_state({kM, kN}, false, both), State::InLoop);
  EXPECT_EQ(complete_state({kM}, true, both), State::AfterLoop);
}

}  // namespace
}  // namespace mirage::search
