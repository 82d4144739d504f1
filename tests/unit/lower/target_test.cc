#include "lower/target.h"

#include <gtest/gtest.h>

namespace mirage::lower {
namespace {

TEST(Target, CpuAndNativeAreOneRowThatRunsHere) {
  const auto cpu = target_named("cpu"), native = target_named("native");
  ASSERT_TRUE(cpu && native);
  EXPECT_EQ(cpu->name, native->name);
  EXPECT_TRUE(runs_here(*cpu));
  EXPECT_GE(cpu->units, 1);
}

TEST(Target, NamesParseWithAnyDash) {
  EXPECT_EQ(target_named("cpu_avx2")->name, "cpu-avx2");
  EXPECT_EQ(target_named("sm90")->name, "sm_90");
  EXPECT_EQ(target_named("sm_90")->backend, Backend::Cuda);
  EXPECT_FALSE(runs_here(*target_named("sm_90")));
}

TEST(Target, UnknownNamesAreRefusedWithTheList) {
  const auto target = target_named("vax");
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().code, Code::BadInput);
  EXPECT_EQ(target.error().message,
            "unknown target vax: expected cpu, native or one of cpu-avx512, cpu-avx2, "
            "cpu-portable, sm_80, sm_86, sm_89, sm_90, sm_100, sm_120, triton");
}

}  // namespace
}  // namespace mirage::lower
