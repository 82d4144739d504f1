#include "tune/host_tensor.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tune/machine.h"

namespace mirage::tune {
namespace {

using ir::DType;
using testing::ElementsAre;

TEST(HostTensor, MoreThanTheMemoryIsRefused) {
  const auto spread = HostTensor::make({ir::DType::F32, {2, 2}}, {memory_bytes() / 4, 1});
  ASSERT_FALSE(spread);
  EXPECT_EQ(spread.error().code, Code::LimitExceeded);
}

TEST(HostTensor, KeepsElementsUnderAnyStrides) {
  for (const ir::Strides& strides : {ir::Strides{}, ir::Strides{1, 2}, ir::Strides{-3, 1},
                                     ir::Strides{5, -1}, ir::Strides{-1, -2}}) {
    Result<HostTensor> tensor = HostTensor::make({DType::F16, {2, 3}}, strides);
    ASSERT_TRUE(tensor);
    tensor->assign({1, 2, 3, 4, 5, 6});
    EXPECT_THAT(tensor->to_doubles(), ElementsAre(1, 2, 3, 4, 5, 6));
  }
}

TEST(HostTensor, ViewPointsAtElementZero) {
  Result<HostTensor> tensor = HostTensor::make({DType::F32, {3}}, {-1});
  ASSERT_TRUE(tensor);
  tensor->assign({1, 2, 3});
  const auto* data = static_cast<const float*>(tensor->view().data);
  EXPECT_EQ(data[0], 1.0f);
  EXPECT_EQ(data[-2], 3.0f);
}

TEST(HostTensor, ManyThreadsReadAndWriteTheSame) {
  for (const ir::Strides& strides : {ir::Strides{}, ir::Strides{3, 900, 1}, ir::Strides{0, 3, 1}}) {
    Result<HostTensor> one = HostTensor::make({DType::F32, {300, 200, 3}}, strides);
    Result<HostTensor> many = HostTensor::make({DType::F32, {300, 200, 3}}, strides);
    ASSERT_TRUE(one && many);
    std::vector<double> values;
    for (int i = 0; i < 300 * 200 * 3; ++i) values.push_back(i);
    one->assign(values);
    many->assign(values, 5);
    EXPECT_EQ(one->to_doubles(), many->to_doubles());
    EXPECT_EQ(one->to_doubles(), one->to_doubles(5));
  }
}

TEST(HostTensor, RowsOfOffsetsMakeUpTheWhole) {
  const ir::Shape shape{3, 4, 5};
  const ir::Strides strides{7, -100, 2};
  std::vector<int64_t> whole, parts;
  for_each_offset(shape, strides, [&](int64_t offset) { whole.push_back(offset); });
  for (int64_t row = 0; row < row_count(shape); row += 5)
    for_each_offset(shape, strides, row, std::min<int64_t>(row + 5, row_count(shape)),
                    [&](int64_t offset) { parts.push_back(offset); });
  EXPECT_EQ(whole.size(), 60u);
  EXPECT_EQ(whole[59], 2 * 7 - 3 * 100 + 4 * 2);
  EXPECT_EQ(parts, whole);
}

TEST(HostTensor, EmptyAndScalar) {
  Result<HostTensor> empty = HostTensor::make({DType::F32, {2, 0}});
  Result<HostTensor> scalar = HostTensor::make({DType::F64, {}});
  ASSERT_TRUE(empty && scalar);
  EXPECT_TRUE(empty->to_doubles().empty());
  scalar->assign({2.5});
  EXPECT_THAT(scalar->to_doubles(), ElementsAre(2.5));
}

}  // namespace
}  // namespace mirage::tune
