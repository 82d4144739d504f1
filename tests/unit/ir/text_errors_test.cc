#include <gtest/gtest.h>

#include "ir/text.h"

namespace mirage::ir {
namespace {

struct Row {
  const char* text;
  const char* message;
};

// Every text here must be refused with exactly this message.
const Row kRows[] = {
    {"", "1:1: expected kernel @name(...) {...}, found the end of the text"},
    {"// only a comment", "1:18: expected kernel @name(...) {...}, found the end of the text"},
    {"kernel", "1:7: expected '(', found the end of the text"},
    {"kernel @", "1:8: expected a name such as @attention, found '@'"},
    {"kernel @f(%x f32[2])", "1:14: expected ':', found 'f32'"},
    {"kernel @f(x: f32[2])", "1:11: expected a value such as %x, found 'x'"},
    {"kernel @f(%x: float[2]) {}", "1:15: unknown element type 'float'"},
    {"kernel @f(%x: f32) {}", "1:18: expected '[', found ')'"},
    {"kernel @f(%x: f32[2,]) {}", "1:21: expected an integer, found ']'"},
    {"kernel @f(%x: f32[-1]) {}", "1:11: input %x: negative extent in shape [-1]"},
    {"kernel @f(%x: f32[1.5]) {}", "1:19: expected an integer, found '1.5'"},
    {"kernel @f(%x: f32[99999999999999999999]) {}",
     "1:19: '99999999999999999999' does not fit into 64 bits"},
    {"kernel @f(%x: f32[0,1099511627776,1099511627776]) {}",
     "1:11: input %x: shape [0,1099511627776,1099511627776] is too large"},
    {"kernel @f(%x: f32[1,1,1,1,1,1,1,1,1]) {}", "1:35: more than 8 entries in a list"},
    {"kernel @f(%x: f32[2,2] strides(1)) {}", "1:11: input %x: expected 2 strides, found 1"},
    {"kernel @f(%x: f32[2] strides(9223372036854775807)) {}",
     "1:11: input %x: strides [9223372036854775807] are too large"},
    {"kernel @f(%x: f32[2], %x: f32[2]) {}", "1:23: %x is defined twice, first on line 1"},
    {"kernel @f(%x: f32[2]) {}", "1:1: graph @f: has no operators"},
    {"kernel @f(%x: f32[2]) { return %x }", "1:1: graph @f: has no operators"},
    {"kernel @f(%x: f32[2]) {\n  %y = exp %x",
     "2:14: expected %name = operator ..., store, return or '}', found the end of the text"},
    {"kernel @f(%x: f32[2]) { %y = foo %x }", "1:30: unknown operator 'foo'"},
    {"kernel @f(%x: f32[2]) { foo %x }", "1:25: unknown operator 'foo'"},
    {"kernel @f(%x: f32[2]) { exp %x }",
     "1:25: the result of 'exp' has no name: expected %name = exp ..."},
    {"kernel @f(%x: f32[2]) { %y = exp %z }", "1:34: %z is not defined"},
    {"kernel @f(%x: f32[2]) {\n  %a = exp %b\n  %b = exp %a\n}",
     "2:12: %b is used before line 3 defines it (a program without cycles can be written in "
     "order)"},
    {"kernel @f(%x: f32[2]) { %y = exp %y }", "1:34: %y is used to define itself"},
    {"kernel @f(%x: f32[2]) {\n  %y = exp %x\n  %y = log %x\n}",
     "3:3: %y is defined twice, first on line 2"},
    {"kernel @f(%x: f32[2]) { %y = exp }",
     "1:34: expected an operand (%name, number or operator), found '}'"},
    {"kernel @f(%x: f32[2]) { %y = exp %x, %x }", "1:30: exp %y: expected 1 operand, found 2"},
    {"kernel @f(%x: f32[2]) { %y = mul %x }", "1:30: mul %y: expected 2 operands, found 1"},
    {"kernel @f(%x: f32[2]) { %y, %z = exp %x }", "1:34: exp: has 1 result, but 2 names are given"},
    {"kernel @f(%x: f32[16,4096], %w: f32[406,4096]) {\n  %o = matmul %x, %w\n}",
     "2:8: matmul %o: inner extents differ: lhs has k=4096, rhs has k=406"},
    {"kernel @f(%x: f32[2], %y: f16[2]) { %z = add %x, %y }",
     "1:42: add %z: operand types differ: f32 and f16"},
    {"kernel @f(%x: f32[2,3], %y: f32[2]) { %z = add %x, %y }",
     "1:44: add %z: operands cannot be broadcast together: axis 1 has 3 and 2 elements ([2,3] and "
     "[2])"},
    {"kernel @f(%x: f32[2,3]) { %z = sum %x }", "1:32: sum: expected axis=..., found '}'"},
    {"kernel @f(%x: f32[2,3]) { %z = sum %x axis=2 }",
     "1:32: sum %z: axis 2 is out of range for rank 2"},
    {"kernel @f(%x: f32[2,3]) { %z = sum %x axis=0 axis=1 }", "1:46: sum: axis is given twice"},
    {"kernel @f(%x: f32[2,3]) { %z = sum %x dim=0 }", "1:39: sum: has no attribute 'dim'"},
    {"kernel @f(%x: f32[2,3]) { %z = transpose %x perm=[0,0] }",
     "1:32: transpose %z: expected a permutation of 2 axes, found [0, 0]"},
    {"kernel @f(%x: f32[2,3]) { %z = reshape %x shape=[7] }",
     "1:32: reshape %z: cannot reshape [2,3] (6 elements) to [7] (7 elements)"},
    {"kernel @f(%x: f32[2,3]) { %z = narrow %x axis=1 start=2 length=2 }",
     "1:32: narrow %z: range [2, 2 + 2) is outside axis 1 of extent 3"},
    {"kernel @f(%x: f32[2,3], %y: f32[3,3]) { %z = concat %x, %y axis=1 }",
     "1:46: concat %z: operands differ outside axis 1: [2,3] and [3,3]"},
    {"kernel @f(%x: f32[2]) { %z = clamp %x lo=1 hi=0 }",
     "1:30: clamp %z: expected bounds lo <= hi, found [1, 0]"},
    {"kernel @f(%x: f32[2]) { %z = mul %x, nan }", "1:38: a scalar must not be NaN"},
    {"kernel @f(%x: f32[2]) { %z = clamp %x lo=-nan hi=1 }", "1:42: a scalar must not be NaN"},
    {"kernel @f(%x: f32[2]) { %z = mul %x, 1e999 }",
     "1:38: '1e999' is outside the range of a 64-bit float"},
    {"kernel @f(%x: f32[2]) { %z = mul %x, 1.2.3 }", "1:38: expected a number, found '1.2.3'"},
    {"kernel @f(%x: f32[2]) { %z = mul %x, 0x }", "1:38: expected a number, found '0x'"},
    {"kernel @f(%x: f32[2]) { %z = mul %x, $ }",
     "1:38: expected an operand (%name, number or operator), found '$'"},
    {"kernel @f(%x: f32[2]) { %z = mul %x, \x01 }",
     "1:38: expected an operand (%name, number or operator), found byte 0x01"},
    {"kernel @f(%x: f32[2]) { %z = exp mul %x, %x }",
     "1:34: put 'mul' in parentheses to use it as an operand"},
    {"kernel @f(%x: f32[2]) { %z = exp (running_max %x axis=0) }",
     "1:35: running_max: does not exist at kernel level"},
    {"kernel @f(%x: f32[2]) { % = exp %x }", "1:25: '%' without a name"},
    {"kernel @f(%x: f32[2]) -> f32[3] { %z = exp %x return %z }",
     "1:26: result 0: expected f32[3] as declared, found f32[2]"},
    {"kernel @f(%x: f32[2]) -> f32[2], f32[2] { %z = exp %x return %z }",
     "1:26: 2 result types, but 1 values are returned"},
    {"kernel @f(%x: f32[2]) -> f32[2], f32[2] { %z = exp %x }",
     "1:26: 2 result types, but 1 values are not read by others"},
    {"kernel @f(%x: f32[2,2]) -> f32[2,2] strides(1,1) { %z = exp %x return %z }",
     "1:1: graph @f: output 0: strides [1, 1] make elements of shape [2,2] overlap"},
    {"kernel @f(%x: f32[2]) { %z = exp %x return %z } }",
     "1:49: expected kernel @name(...) {...}, found '}'"},
    {"kernel @f(%x: f32[4]) { %y = load %x [.] }", "1:30: load %y: does not exist at kernel level"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(n: grid 0) { store (load %x [n]) [n] } }",
     "1:30: block axis n: expected at least one step, found 0"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(n: spin 2) { store (load %x [n]) [n] } }",
     "1:48: expected grid, loop, cluster or warp, found 'spin'"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(n: grid 2, n: grid 2) { } }",
     "1:56: axis n is defined twice"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(n: grid 2) threads(0) { } }",
     "1:64: expected at least one thread, found 0"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(n: grid 4611686018427387904) { } }",
     "1:30: block: the product of its axes is too large"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(n: grid 2) { } }",
     "1:30: block: has no operators"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(n: grid 2) { %a = load %x [n] } }",
     "1:30: block: stores nothing"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(n: grid 2) { store (load %x [m]) [n] } }",
     "1:74: load: the block has no axis 'm'"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(n: grid 2) { store (load %x [n/n]) [n] } }",
     "1:76: load: block axis n is bound twice"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(n: grid 2) { store (load %x [n, .]) [n] } }",
     "1:65: load: expected a binding for each of 1 axes, found 2"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(n: grid 2) { store (load %x [n]) [.] } }",
     "1:58: store: grid axis n (2 blocks) is not bound: blocks would overlap in the output"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(n: grid 3) { store (load %x [n]) [n] } }",
     "1:65: load: axis 0 of extent 4 does not divide over 3 steps of block axis n"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(n: grid 2) { store (load %x [n]) } }",
     "1:78: store: expected a binding such as [., n], found '}'"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(n: grid 2) { store (load %x [n]) [n] "
     "shape=[5] } }",
     "1:58: store: tile [2] does not cover axis 0 of result shape [5]"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(k: loop 2) { store (load %x [k]) [.] } }",
     "1:58: store: stores a value that changes with the loop; accumulate it first"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(k: loop 2) { %a = load %x [k] "
     "%s = accum sum %a %t = add %s, %a } }",
     "1:98: add %t: mixes a value of the loop with one that exists only after it"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) axes(k: loop 2) { %a = load %x [k] "
     "%s = accum %a } }",
     "1:86: accum: expected sum, mean or max, found '%a'"},
    {"kernel @f(%x: f32[5]) { %y = block(%x) axes(k: loop 2) { %a = load %x [k] "
     "%s = accum mean %a } }",
     "1:80: accum %s: mean over loop axis k, which does not divide extent 5"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) { store (exp %x) [.] } }",
     "1:49: exp: reads block operand %x without a load"},
    {"kernel @f(%x: f32[4]) {\n  %z = exp %x\n  %y = block(%x) { store (load %z [.]) [.] }\n}",
     "3:32: %z is a value of the kernel, not an operand of this block"},
    {"kernel @f(%x: f32[4]) { %y = block(%z) { } }", "1:36: %z is not defined"},
    {"kernel @f(%x: f32[4]) { %y = block(%x, %x) { } }",
     "1:40: %x is defined twice, first on line 1"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) { %s = store (load %x [.]) [.] %t = load %s [.] } }",
     "1:76: load %t: loads %s, which is not an operand of the block"},
    {"kernel @f(%x: f32[4]) { %y = block(%x) { return %x } }",
     "1:42: a block has no return: its results are its stores"},
    {"kernel @f(%x: f32[4]) { %y, %z = block(%x) { store (load %x [.]) [.] } }",
     "1:34: block: has 1 result, but 2 names are given"},
    {"thread @f(%x: f32[4]) { %y = matmul %x, %x }",
     "1:30: matmul %y: does not exist at thread level"},
    {"thread @f(%x: f32[4]) { %y = block(%x) { store (load %x [.]) [.] } }",
     "1:30: block: does not exist at thread level"},
};

TEST(TextErrors, ExactMessages) {
  for (const Row& row : kRows) {
    const auto graphs = parse(row.text);
    ASSERT_FALSE(graphs) << row.text;
    EXPECT_EQ(graphs.error().code, Code::BadInput) << row.text;
    EXPECT_EQ(graphs.error().message, row.message) << row.text;
  }
}

TEST(TextErrors, DeepNestingIsRefused) {
  std::string text = "kernel(%x: f32[2]) { %y = ";
  for (int i = 0; i < 100000; ++i) text += "exp (";
  const auto graphs = parse(text);
  ASSERT_FALSE(graphs);
  EXPECT_EQ(graphs.error().message.substr(graphs.error().message.find(' ') + 1),
            "operators are nested more than 64 deep: name the inner ones");
}

TEST(TextErrors, SixtyFourDeepIsFine) {
  std::string text = "kernel(%x: f32[2]) { %y = ", close;
  for (int i = 0; i < 32; ++i) {
    text += "exp (";
    close += ")";
  }
  EXPECT_TRUE(parse(text + "%x" + close + "}"));
}

TEST(TextErrors, EveryPrefixIsRefused) {
  const std::string text =
      "kernel @f(%x: f16[16,64] strides(64,1), %w: f16[64,8]) -> f16[16,8] {\n"
      "  %y = block(%x, %b = %w) axes(n: grid 2, k: loop 4) threads(32) {\n"
      "    store (div (accum sum (matmul (load %x [., k]), (load %b [k, n]))), 0x1p-3) [., n]\n"
      "  }\n  return %y\n}";
  ASSERT_TRUE(parse(text)) << parse(text).error().message;
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(parse(text.substr(0, length))) << length;
}

}  // namespace
}  // namespace mirage::ir
