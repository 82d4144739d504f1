#include "verify/partial.h"

#include <gtest/gtest.h>

#include "unit/verify/support.h"

namespace mirage::verify {
namespace {

bool is_partial(const std::string& body) {
  return verify::is_partial(*graph_of("%x: f32[8,16], %y: f32[8,16]", body));
}

TEST(Partial, FollowsFromTheBody) {
  for (const char* name : {"sqrt", "rsqrt", "log"})
    EXPECT_TRUE(is_partial(std::string("return (") + name + " %x)")) << name;
  for (const char* name : {"div", "pow"})
    EXPECT_TRUE(is_partial(std::string("return (") + name + " %x, %y)")) << name;
  for (const char* name : {"exp", "square", "sigmoid", "silu", "gelu", "relu", "tanh", "neg"})
    EXPECT_FALSE(is_partial(std::string("return (") + name + " %x)")) << name;
  for (const char* name : {"add", "sub", "mul", "maximum", "minimum"})
    EXPECT_FALSE(is_partial(std::string("return (") + name + " %x, %y)")) << name;
  for (const char* name : {"sum", "mean", "max"})
    EXPECT_FALSE(is_partial(std::string("return (") + name + " %x axis=1)")) << name;
  EXPECT_FALSE(is_partial("return (clamp %x lo=-1 hi=1)"));
}

TEST(Partial, LooksIntoBlocks) {
  const auto block = [](const std::string& op) {
    return "%z = block(%x) axes(g: grid 2) {\n  %a = load %x [g, .]\n  store (" + op +
           " %a) [g, .]\n}\nreturn %z";
  };
  EXPECT_TRUE(is_partial(block("log")));
  EXPECT_FALSE(is_partial(block("exp")));
}

}  // namespace
}  // namespace mirage::verify
