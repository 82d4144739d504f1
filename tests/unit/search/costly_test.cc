#include "search/costly.h"

#include <gtest/gtest.h>

namespace mirage::search {
namespace {

using ir::OpKind;

TEST(Costly, FollowsFromTheBody) {
  for (OpKind kind : {OpKind::Exp, OpKind::Log, OpKind::Pow, OpKind::Sigmoid, OpKind::Silu,
                      OpKind::Gelu, OpKind::Tanh, OpKind::Div, OpKind::Sqrt, OpKind::Rsqrt})
    EXPECT_TRUE(is_costly(kind)) << ir::def(kind).name;
  for (OpKind kind : {OpKind::Add, OpKind::Sub, OpKind::Mul, OpKind::Neg, OpKind::Square,
                      OpKind::Relu, OpKind::Clamp, OpKind::Maximum, OpKind::Minimum})
    EXPECT_FALSE(is_costly(kind)) << ir::def(kind).name;
  for (OpKind kind : {OpKind::Const, OpKind::MatMul, OpKind::Sum, OpKind::Transpose})
    EXPECT_FALSE(is_costly(kind)) << ir::def(kind).name;
}

}  // namespace
}  // namespace mirage::search
