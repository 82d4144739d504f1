#include "ir/compose.h"

#include <gtest/gtest.h>

#include "ir/text.h"

namespace mirage::ir {
namespace {

/// The operators that `make` adds after an input %x: f32[2,3,4], as text.
template <class Make>
std::string text_of(Make make) {
  GraphBuilder builder;
  const ValueId x = *builder.input({DType::F32, {2, 3, 4}}, "x");
  const auto result = make(builder, x);
  if (!result) return result.error().message;
  const std::string text = print(**builder.finish());
  return text.substr(text.find('\n') + 1);
}

TEST(Compose, RmsNorm) {
  EXPECT_EQ(text_of([](GraphBuilder& b, ValueId x) { return rms_norm(b, x); }),
            "  %1 = square %x  // f32[2,3,4]\n"
            "  %2 = mean %1 axis=2  // f32[2,3,1]\n"
            "  %3 = sqrt %2  // f32[2,3,1]\n"
            "  %4 = div %x, %3  // f32[2,3,4]\n}\n");
  EXPECT_EQ(text_of([](GraphBuilder& b, ValueId x) {
              const ValueId weight = *b.input({DType::F32, {4}}, "w");
              return rms_norm(b, x, Shape{3, 4}, {.weight = weight, .bias = {}, .eps = 0.5});
            }),
            "  %2 = square %x  // f32[2,3,4]\n"
            "  %3 = mean %2 axis=2  // f32[2,3,1]\n"
            "  %4 = mean %3 axis=1  // f32[2,1,1]\n"
            "  %6 = add %4, 0x1p-1  // f32[2,1,1]\n"
            "  %7 = sqrt %6  // f32[2,1,1]\n"
            "  %8 = div %x, %7  // f32[2,3,4]\n"
            "  %9 = mul %8, %w  // f32[2,3,4]\n}\n");
}

TEST(Compose, SoftmaxReduceAndParts) {
  EXPECT_EQ(text_of([](GraphBuilder& b, ValueId x) { return safe_softmax(b, x, -2); }),
            "  %1 = max %x axis=1  // f32[2,1,4]\n"
            "  %2 = sub %x, %1  // f32[2,3,4]\n"
            "  %3 = exp %2  // f32[2,3,4]\n"
            "  %4 = sum %3 axis=1  // f32[2,1,4]\n"
            "  %5 = div %3, %4  // f32[2,3,4]\n}\n");
  EXPECT_EQ(text_of([](GraphBuilder& b, ValueId x) {
              const int64_t axes[] = {0, -1};
              return reduce(b, Combine::Mean, x, axes, false);
            }),
            "  %1 = mean %x axis=0  // f32[1,3,4]\n"
            "  %2 = mean %1 axis=2  // f32[1,3,1]\n"
            "  %3 = reshape %2 shape=[3]  // f32[3]\n}\n");
  EXPECT_EQ(text_of([](GraphBuilder& b, ValueId x) { return chunk(b, x, 2, -1); }),
            "  %1 = narrow %x axis=2 start=0 length=2  // f32[2,3,2]\n"
            "  %2 = narrow %x axis=2 start=2 length=2  // f32[2,3,2]\n}\n");
}

TEST(Compose, MessagesNameOperatorValueAndAxis) {
  EXPECT_EQ(text_of([](GraphBuilder& b, ValueId x) { return softmax(b, x, 3); }),
            "softmax %x: axis 3 is out of range for rank 3");
  EXPECT_EQ(text_of([](GraphBuilder& b, ValueId x) { return chunk(b, x, 2, 1); }),
            "chunk %x: axis 1 of extent 3 does not split into 2 equal parts");
  EXPECT_EQ(text_of([](GraphBuilder& b, ValueId x) {
              const int64_t parts[] = {3, 2};
              return split(b, x, parts, 2);
            }),
            "split %x: parts [3, 2] do not add up to axis 2 of extent 4");
  EXPECT_EQ(text_of([](GraphBuilder& b, ValueId x) { return rms_norm(b, x, Shape{4096}); }),
            "rms_norm %x: normalized shape [4096] is not the end of shape [2,3,4]");
  EXPECT_EQ(text_of([](GraphBuilder& b, ValueId x) { return layer_norm(b, x, {}, 4); }),
            "layer_norm %x: expected 1 to 3 normalized axes, found 4");
  EXPECT_EQ(text_of([](GraphBuilder& b, ValueId x) {
              const ValueId weight = *b.input({DType::F32, {3}}, "w");
              return rms_norm(b, x, {.weight = weight, .bias = {}, .eps = {}});
            }),
            "rms_norm %x: weight [3] does not broadcast to [2,3,4]");
  EXPECT_EQ(text_of([](GraphBuilder& b, ValueId x) {
              const int64_t axes[] = {1, -2};
              return reduce(b, Combine::Sum, x, axes);
            }),
            "reduce %x: axis 1 is given twice");
}

}  // namespace
}  // namespace mirage::ir
