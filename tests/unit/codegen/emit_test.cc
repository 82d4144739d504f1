#include "codegen/cpu/emit.h"

#include <gtest/gtest.h>

#include "ir/text.h"
#include "lower/lower.h"

namespace mirage::codegen {
namespace {

Result<SourceUnit> emitted(std::string_view text) {
  const auto graphs = ir::parse(text);
  EXPECT_TRUE(graphs);
  const auto program = lower::lower((*graphs)[0], *lower::target_named("cpu-portable"));
  EXPECT_TRUE(program);
  return emit_cpu(*program);
}

constexpr std::string_view kText =
    "kernel @k(%x: f32[2,3], %y: f32[2,3]) -> f32[2,3] { %z = exp (mul %x, %y) return %z }";

TEST(EmitCpu, DescribesTheCall) {
  const auto unit = emitted(kText);
  ASSERT_TRUE(unit);
  EXPECT_EQ(unit->inputs.size(), 2u);
  EXPECT_EQ(unit->inputs[0].name, "x");
  EXPECT_EQ(unit->outputs[0].strides, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(unit->entries.size(), 2u);
  EXPECT_NE(unit->text.find("const V v1 = exp(x0);"), std::string::npos) << unit->text;
  EXPECT_NE(unit->text.find("program @k"), std::string::npos);
}

TEST(EmitCpu, EqualProgramsHaveEqualKeys) {
  EXPECT_EQ(emitted(kText)->key, emitted(kText)->key);
  EXPECT_NE(emitted(kText)->key,
            emitted("kernel @k(%x: f32[2,3], %y: f32[2,3]) -> f32[2,3] { %z = exp (add %x, %y) "
                    "return %z }")
                ->key);
}

size_t count(std::string_view text, std::string_view word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
  return found;
}

/// y = x, then `adds` times y + x, and as many times y * 0.5.
std::string long_program(int adds) {
  std::string text = "kernel @k(%x: f32[2,3]) -> f32[2,3] {\n%y0 = exp %x\n";
  for (int i = 0; i < adds; ++i)
    text += fmt::format("%z{0} = add %y{0}, %x\n%y{1} = mul %z{0}, 0.5\n", i, i + 1);
  return text + fmt::format("return %y{}\n}}\n", adds);
}

TEST(EmitCpu, LongProgramsShareTheTextOfKernelsThatAreAlike) {
  const auto unit = emitted(long_program(100));
  ASSERT_TRUE(unit) << unit.error().message;
  EXPECT_EQ(unit->entries.size(), 201u);
  EXPECT_EQ(count(unit->text, "void run("), 3u);  // exp, add, mul
  EXPECT_EQ(count(unit->text, "__attribute__((noinline)) void run("), 3u);
  EXPECT_EQ(count(unit->text, "::run("), 201u);
  EXPECT_EQ(count(unit->text, "static constexpr int own[]"), 201u);
  const auto few = emitted(long_program(3));
  ASSERT_TRUE(few) << few.error().message;
  EXPECT_EQ(count(few->text, "void run("), 7u);
  EXPECT_EQ(count(few->text, "own"), 0u);
}

TEST(EmitCpu, OtherBackEndsAreUnsupported) {
  lower::Program program;
  program.target = *lower::target_named("sm_90");
  const auto unit = emit_cpu(program);
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.error().code, Code::Unsupported);
}

}  // namespace
}  // namespace mirage::codegen
