#include "codegen/spell.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mirage::codegen {
namespace {

TEST(Number, IsExactAndTyped) {
  EXPECT_EQ(number(1), "T(1)");
  EXPECT_EQ(number(-3), "T(-3)");
  EXPECT_EQ(number(-0.0), "T(-0.0)");
  EXPECT_EQ(number(0.1), "T(0x1.999999999999ap-4)");
  EXPECT_EQ(number(-std::numeric_limits<double>::infinity()), "-kInfinity<T>");
}

TEST(MapText, FunctionsOfTheLibraryAndBodies) {
  const std::string operands[] = {"a", "b"};
  EXPECT_EQ(map_text(ir::OpKind::Silu, {}, std::span(operands, 1)), "silu(a)");
  EXPECT_EQ(map_text(ir::OpKind::Square, {}, std::span(operands, 1)), "(a * a)");
  EXPECT_EQ(map_text(ir::OpKind::Div, {}, operands), "(a / b)");
  EXPECT_EQ(map_text(ir::OpKind::Maximum, {}, operands), "maximum(a, b)");
  ir::Attrs attrs;
  attrs.scalars = {0, 6};
  EXPECT_EQ(map_text(ir::OpKind::Clamp, attrs, std::span(operands, 1)),
            "minimum(maximum(a, V(T(0))), V(T(6)))");
}

TEST(TritonText, FunctionsOfTheLanguageAndBodies) {
  const std::string operands[] = {"a", "b"};
  const auto text = [&](ir::OpKind kind, size_t arity, const ir::Attrs& attrs = {}) {
    return triton_text(ir::DType::F32, kind, attrs, std::span(operands, arity));
  };
  EXPECT_EQ(text(ir::OpKind::Exp, 1), "tl.exp(a)");
  EXPECT_EQ(text(ir::OpKind::Mul, 2), "(a * b)");
  EXPECT_EQ(text(ir::OpKind::Sigmoid, 1), "(1.0 / (1.0 + tl.exp((-a))))");
  EXPECT_EQ(text(ir::OpKind::Silu, 1), "(a * (1.0 / (1.0 + tl.exp((-a)))))");
  EXPECT_EQ(text(ir::OpKind::Relu, 1), "larger(a, 0.0)");
  // Bare numbers that functions are given would be rounded to f32.
  ir::Attrs attrs;
  attrs.scalars = {-0.1, 6};
  EXPECT_EQ(text(ir::OpKind::Clamp, 1, attrs), "smaller(larger(a, (-0.1)), 6.0)");
  EXPECT_EQ(triton_text(ir::DType::F64, ir::OpKind::Relu, {}, std::span(operands, 1)),
            "larger(a, tl.full([], 0.0, tl.float64))");
}

TEST(MapText, EveryMapOperatorHasText) {
  const std::string operands[] = {"a", "b"};
  ir::Attrs attrs;
  attrs.scalars = {0, 1};
  for (const ir::OpDef& row : ir::op_table()) {
    if (row.form != ir::Form::Map) continue;
    const auto text =
        map_text(row.kind, attrs, std::span(operands, static_cast<size_t>(row.arity)));
    EXPECT_NE(text.find('a'), std::string::npos) << row.name;
  }
}

}  // namespace
}  // namespace mirage::codegen
