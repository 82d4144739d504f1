#include "runtime/worker.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace mirage::runtime {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{9000};

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

/// Sends every request back, which has the form of an answer.
std::vector<std::string> echo() { return shell("exec cat <&3 >&3"); }

TEST(Worker, OneProcessAnswersManyRequests) {
  Worker worker(echo());
  const Result<int> first = worker.ensure_running();
  ASSERT_TRUE(first) << first.error().message;
  for (const char* request : {"one", "", "a third one"}) {
    const Result<std::string> answer = worker.call(request, kLong);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(*answer, request);
  }
  EXPECT_EQ(*worker.ensure_running(), *first);
}

TEST(Worker, RequestsMayBeLarge) {
  Worker worker(shell("head -c 30000008 <&3 >/dev/null; printf '\\2\\0\\0\\0\\0\\0\\0\\0ok' >&3"));
  const Result<std::string> answer = worker.call(std::string(30'000'000, 'x'), kLong);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(*answer, "ok");
}

TEST(Worker, ACrashIsAnErrorAndTheNextProcessIsAnother) {
  Worker worker(shell("head -c 9 <&3 >/dev/null; kill -SEGV $$"));
  for (int process = 1; process < 3; ++process) {
    const Result<std::string> answer = worker.call("x", kLong);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Code::RunFailed);
    EXPECT_EQ(answer.error().message, "crashed with signal 11 (SEGV)");
  }
  EXPECT_EQ(*worker.ensure_running(), 3);
}

TEST(Worker, AnExitIsAnError) {
  Worker worker(shell("head -c 9 <&3 >/dev/null; exit 5"));
  const Result<std::string> answer = worker.call("x", kLong);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "exited with status 5 before it was done");
}

TEST(Worker, AHangIsAnError) {
  Worker worker(shell("sleep 1000"));
  Result<std::string> answer = worker.call("x", milliseconds(30));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::Timeout);
  EXPECT_EQ(answer.error().message, "ran longer than 30 ms");
  answer = worker.call("x", kLong, Deadline::in_seconds(0.03));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "was stopped: no more time");
}

TEST(Worker, AnAnswerWithoutEndIsAnError) {
  Worker worker(shell("printf '\\377\\377\\377\\377\\377\\377\\377\\377' >&3; sleep 1000"));
  const Result<std::string> answer = worker.call("x", kLong);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::RunFailed);
}

TEST(Worker, AProgramThatIsNotThereIsNamed) {
  Worker worker({"/no/such/program"});
  const Result<std::string> answer = worker.call("x", kLong);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::Io);
  EXPECT_EQ(answer.error().message, "cannot run /no/such/program: No such file or directory");
}

/// A child that serves at one end of a socket; the other end is returned.
int served(pid_t& child, milliseconds idle,
           const std::function<std::string(std::string_view)>& answer) {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  child = fork();
  if (child == 0) {
    close(ends[0]);
    _exit(serve(ends[1], idle, answer));
  }
  close(ends[1]);
  return ends[0];
}

int status_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(Serve, AnswersAndEndsWhenNobodyAsks) {
  pid_t child = 0;
  const int socket = served(child, milliseconds(50),
                            [](std::string_view text) { return std::string(text) + "!"; });
  const char request[] = {1, 0, 0, 0, 0, 0, 0, 0, 'a'};
  ASSERT_EQ(write(socket, request, sizeof request), 9);
  char answer[10] = {};
  ASSERT_EQ(recv(socket, answer, sizeof answer, MSG_WAITALL), 10);
  EXPECT_EQ(std::string(answer + 8, 2), "a!");
  EXPECT_EQ(status_of(child), 0);
  close(socket);
}

TEST(Serve, EndsInTheMiddleOfARequestWhenItsParentIsGone) {
  pid_t child = 0;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int socket = served(child, kLong, [&](std::string_view) -> std::string {
    if (write(ends[1], "!", 1) != 1) _exit(1);
    for (;;) pause();
  });
  const char request[8] = {};
  ASSERT_EQ(write(socket, request, sizeof request), 8);
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);  // it is in the request
  close(socket);
  EXPECT_EQ(status_of(child), 0);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace mirage::runtime
