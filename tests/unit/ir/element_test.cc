#include "ir/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace mirage::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Element, RoundsToNearestEven) {
  struct Row {
    DType dtype;
    double value, want;
  };
  for (const Row& row : {Row{DType::F16, 1 + 0x1p-11, 1},
                         {DType::F16, 1 + 0x1p-11 + 0x1p-20, 1 + 0x1p-10},
                         {DType::F16, 65519, 65504},
                         {DType::F16, 65520, kInf},
                         {DType::F16, 0x1p-25, 0},
                         {DType::F16, 0x1.8p-25, 0x1p-24},
                         {DType::F16, -0x1p-24, -0x1p-24},
                         {DType::F16, 0x1.ff8p-15, 0x1.ff8p-15},
                         {DType::F16, 0x1.fffp-15, 0x1p-14},
                         {DType::BF16, 1 + 0x1p-8, 1},
                         {DType::BF16, 1 + 0x1p-7, 1 + 0x1p-7},
                         {DType::BF16, 0x1p-133, 0x1p-133},
                         {DType::BF16, -kInf, -kInf},
                         {DType::F8E4M3, 448, 448},
                         {DType::F8E4M3, 463, 448},
                         {DType::F8E4M3, 0x1p-10, 0},
                         {DType::F8E5M2, 57344, 57344},
                         {DType::F8E5M2, 70000, kInf},
                         {DType::F32, 1 + 0x1p-24, 1},
                         {DType::I8, 300, 127},
                         {DType::I8, -300, -128},
                         {DType::U8, -1, 0},
                         {DType::I32, 2.9, 2},
                         {DType::Bool, 5, 1},
                         {DType::I64, 1e30, 0x1p63},
                         {DType::U64, 1e30, 0x1p64}})
    EXPECT_EQ(round_to(row.dtype, row.value), row.want) << name_of(row.dtype) << " " << row.value;
  EXPECT_TRUE(std::isnan(round_to(DType::F8E4M3, kInf)));
  EXPECT_TRUE(std::isnan(round_to(DType::F16, std::nan(""))));
  EXPECT_EQ(round_to(DType::I32, std::nan("")), 0);
  EXPECT_TRUE(std::signbit(round_to(DType::F16, -0.0)));
}

// Every bit pattern of the 16-bit formats comes back as it was (NaNs as NaN).
TEST(Element, LoadsWhatItStored) {
  for (DType dtype : {DType::F16, DType::BF16})
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto raw = static_cast<uint16_t>(bits);
      const double value = load_element(dtype, &raw);
      uint16_t back = 0;
      store_element(dtype, &back, value);
      if (std::isnan(value))
        ASSERT_TRUE(std::isnan(load_element(dtype, &back)));
      else
        ASSERT_EQ(back, raw) << name_of(dtype);
    }
}

TEST(Element, Limits) {
  EXPECT_EQ(max_finite(DType::F16), 65504);
  EXPECT_EQ(max_finite(DType::BF16), 0x1.fep127);
  EXPECT_EQ(max_finite(DType::F8E4M3), 448);
  EXPECT_EQ(min_positive(DType::F16), 0x1p-24);
}

}  // namespace
}  // namespace mirage::ir
