#include "runtime/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

namespace mirage::runtime {
namespace {

constexpr size_t kMostOutput = 1 << 20;
constexpr int kLookMilliseconds = 20;  // between looks at the clock while there is no output

/// This process's, but for TMPDIR.
std::vector<std::string> environment_with(const std::string& temporary_folder) {
  std::vector<std::string> lines;
  for (char** line = environ; *line != nullptr; ++line)
    if (temporary_folder.empty() || !std::string_view(*line).starts_with("TMPDIR="))
      lines.emplace_back(*line);
  if (!temporary_folder.empty()) lines.push_back("TMPDIR=" + temporary_folder);
  return lines;
}

}  // namespace

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::string end_of_process(int status) {
  if (!WIFSIGNALED(status))
    return fmt::format("exited with status {} before it was done", WEXITSTATUS(status));
  const char* const name = sigabbrev_np(WTERMSIG(status));
  return fmt::format("crashed with signal {} ({})", WTERMSIG(status), name ? name : "?");
}

Result<ProcessResult> run_process(const std::vector<std::string>& command,
                                  std::chrono::milliseconds limit, const Deadline& deadline,
                                  const std::string& temporary_folder) {
  const std::vector<std::string> environment = environment_with(temporary_folder);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return fail(Code::Io, "cannot make a pipe: {}", std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawnattr_t attributes;  // its own group, so that a compiler's children end with it
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t child = 0;
  const int error = posix_spawnp(&child, command[0].c_str(), &actions, &attributes,
                                 pointers_to(command).data(), pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return fail(Code::Io, "cannot run {}: {}", command[0], std::strerror(error));
  }

  // Nobody is left to watch the clock if this process is killed: compilers then end by themselves.
  const auto seconds = static_cast<rlim_t>(2 * (limit.count() / 1000 + 1));
  const rlimit cpu_time{seconds, seconds};
  prlimit(child, RLIMIT_CPU, &cpu_time, nullptr);

  ProcessResult result;
  const Deadline end = deadline.no_later_than(Deadline::Clock::now() + limit);
  bool is_late = false;
  for (;;) {
    if (end.is_over()) {
      is_late = true;
      kill(-child, SIGKILL);
      break;
    }
    pollfd wait{ends[0], POLLIN, 0};
    const int ready = poll(&wait, 1, kLookMilliseconds);
    if (ready <= 0) continue;
    char buffer[4096];
    const ssize_t count = read(ends[0], buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    if (result.output.size() < kMostOutput)
      result.output.append(buffer, static_cast<size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (is_late && deadline.is_over())
    return fail(Code::Timeout, "{} was stopped: no more time", command[0]);
  if (is_late) return fail(Code::Timeout, "{} ran longer than {} ms", command[0], limit.count());
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace mirage::runtime
