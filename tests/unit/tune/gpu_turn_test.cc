#include "tune/gpu_turn.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <string>

namespace mirage::tune {
namespace {

TEST(GpuTurn, OneAtATime) {
  const std::string file = testing::TempDir() + "mirage-gpu-turn-test.lock";
  ASSERT_EQ(::setenv("MIRAGE_GPU_LOCK", file.c_str(), 1), 0);
  {
    const Result<GpuTurn> first = GpuTurn::take({});
    ASSERT_TRUE(first) << first.error().message;
    const Result<GpuTurn> second = GpuTurn::take(Deadline::in_seconds(0));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::Timeout);
  }
  EXPECT_TRUE(GpuTurn::take(Deadline::in_seconds(0)));

  ASSERT_EQ(::setenv("MIRAGE_GPU_LOCK", "/no/such/folder/lock", 1), 0);
  const Result<GpuTurn> nowhere = GpuTurn::take({});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, Code::Io);
  ::unsetenv("MIRAGE_GPU_LOCK");
}

}  // namespace
}  // namespace mirage::tune
