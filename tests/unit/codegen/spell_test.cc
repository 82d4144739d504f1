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
