#include "runtime/contain.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace mirage::runtime {
namespace {

using std::chrono::milliseconds;

TEST(Contain, ReturnsWhatTheBodyReturns) {
  EXPECT_TRUE(contain(milliseconds(9000), [] { return Result<void>(); }));
  const auto failed =
      contain(milliseconds(9000), []() -> Result<void> { return bad_input("no {}", 7); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::BadInput);
  EXPECT_EQ(failed.error().message, "no 7");
}

TEST(Contain, SharedMemoryComesBack) {
  auto memory = SharedMemory::make(16);
  ASSERT_TRUE(memory);
  EXPECT_TRUE(contain(milliseconds(9000), [&]() -> Result<void> {
    memory->data()[3] = std::byte{42};
    return {};
  }));
  EXPECT_EQ(memory->data()[3], std::byte{42});
}

TEST(Contain, CrashesAreErrors) {
  const auto result = contain(milliseconds(9000), []() -> Result<void> {
    signal(SIGABRT, SIG_DFL);
    raise(SIGKILL);
    return {};
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::RunFailed);
  EXPECT_EQ(result.error().message, "crashed with signal 9 (KILL)");
}

TEST(Contain, ExitsAreErrors) {
  const auto result = contain(milliseconds(9000), []() -> Result<void> { _exit(5); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::RunFailed);
  EXPECT_EQ(result.error().message, "exited with status 5 before it was done");
}

TEST(Contain, HangsEndAtTheDeadline) {
  const auto result = contain(
      milliseconds(50000),
      []() -> Result<void> {
        for (;;) pause();
      },
      Deadline::in_seconds(0.03));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "was stopped: no more time");
}

TEST(Contain, HangsAreErrors) {
  const auto result = contain(milliseconds(30), []() -> Result<void> {
    for (;;) pause();
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::Timeout);
}

TEST(Contain, TheChildDoesNotOutliveItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    close(ends[0]);
    (void)contain(milliseconds(600000), [&]() -> Result<void> {
      if (write(ends[1], "!", 1) != 1) _exit(1);
      for (;;) pause();
    });
    _exit(0);
  }
  close(ends[1]);
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);  // the child is in its body
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_EQ(read(ends[0], &byte, 1), 0);  // and now nobody holds the other end
  close(ends[0]);
}

}  // namespace
}  // namespace mirage::runtime
