#include "runtime/process.h"

#include <gtest/gtest.h>

namespace mirage::runtime {
namespace {

using std::chrono::milliseconds;

TEST(RunProcess, GivesStatusAndOutput) {
  const auto result =
      run_process({"sh", "-c", "echo out; echo err >&2; exit 3"}, milliseconds(9000));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 3);
  EXPECT_EQ(result->output, "out\nerr\n");
}

TEST(RunProcess, UnknownProgramsAreAnError) {
  const auto result = run_process({"/no/such/program"}, milliseconds(9000));
  if (result) {
    EXPECT_EQ(result->status, 127);
  } else {
    EXPECT_EQ(result.error().code, Code::Io);
  }
}

TEST(RunProcess, LongOnesAreKilledWithTheirChildren) {
  const auto result = run_process({"sh", "-c", "sleep 60 & wait"}, milliseconds(50));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::Timeout);
}

TEST(RunProcess, StopsAtTheDeadlineOrWhenCancelled) {
  const std::vector<std::string> command = {"sh", "-c", "sleep 60"};
  const std::atomic<bool> flag = true;
  for (const Deadline& deadline : {Deadline::in_seconds(0.05), Deadline().or_when(&flag)}) {
    const auto result = run_process(command, milliseconds(50000), deadline);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().message, "sh was stopped: no more time");
  }
}

TEST(RunProcess, ProcessorTimeIsBoundedShouldNobodyWatch) {
  // The bound is set while the process runs already.
  const auto result =
      run_process({"sh", "-c", "until [ $(ulimit -t) != unlimited ]; do :; done; ulimit -t"},
                  milliseconds(9000));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->output, "20\n");
}

}  // namespace
}  // namespace mirage::runtime
