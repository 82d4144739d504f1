#include "tune/host_tensor.h"

#include <gmock/gmock.h>

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
