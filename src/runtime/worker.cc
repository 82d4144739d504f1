#include "runtime/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "runtime/process.h"

namespace mirage::runtime {
namespace {

constexpr int kLookMilliseconds = 20;      // between looks at the deadline, which somebody may set
constexpr uint64_t kMostAnswer = 1 << 30;  // bytes; more is no answer

/// The other end is gone.
tl::unexpected<Error> hung_up() { return fail(Code::Io, "the worker hung up"); }
bool is_hang_up(const Error& error) { return error.code == Code::Io; }

/// Its own group, so that Ctrl-C at a terminal is for the caller alone; of the caller's files only
/// the error stream.
Result<pid_t> spawn(const std::vector<std::string>& command, int socket) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, kWorkerDescriptor);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (::fcntl(2, F_GETFD) < 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  posix_spawn_file_actions_addclosefrom_np(&actions, kWorkerDescriptor + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  pid_t process = -1;
  const int error = posix_spawnp(&process, command[0].c_str(), &actions, &attributes,
                                 pointers_to(command).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return fail(Code::Io, "cannot run {}: {}", command[0], std::strerror(error));
  return process;
}

}  // namespace

Result<int> Worker::ensure_running() {
  if (process_ > 0) {
    // One that was idle for long has ended itself, and what it says is the end of the stream.
    char byte = 0;
    const ssize_t count = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return started_;
    stop();
  }
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(Code::Io, "cannot make a socket: {}", std::strerror(errno));
  const Result<pid_t> process = spawn(command_, ends[1]);
  ::close(ends[1]);
  if (!process) {
    ::close(ends[0]);
    return tl::unexpected(process.error());
  }
  process_ = *process;
  socket_ = ends[0];
  return ++started_;
}

Result<std::string> Worker::call(std::string_view request, std::chrono::milliseconds limit,
                                 const Deadline& deadline) {
  MIRAGE_TRY_VOID(ensure_running());
  Result<std::string> answer =
      exchange(request, deadline.no_later_than(Deadline::Clock::now() + limit));
  if (answer) return answer;
  if (is_hang_up(answer.error())) return reap();
  stop();
  if (deadline.is_over()) return fail(Code::Timeout, "was stopped: no more time");
  return fail(Code::Timeout, "ran longer than {} ms", limit.count());
}

Result<std::string> Worker::exchange(std::string_view request, const Deadline& end) {
  const uint64_t size = request.size();
  MIRAGE_TRY_VOID(send({reinterpret_cast<const char*>(&size), sizeof size}, end));
  MIRAGE_TRY_VOID(send(request, end));
  uint64_t count = 0;
  MIRAGE_TRY_VOID(receive(reinterpret_cast<char*>(&count), sizeof count, end));
  if (count > kMostAnswer) return hung_up();
  std::string answer(count, '\0');
  MIRAGE_TRY_VOID(receive(answer.data(), count, end));
  return answer;
}

Result<void> Worker::wait_until_ready(short event, const Deadline& end) const {
  for (;;) {
    pollfd wait{socket_, event, 0};
    if (::poll(&wait, 1, kLookMilliseconds) > 0) return {};
    if (end.is_over()) return fail(Code::Timeout, "no answer");
  }
}

Result<void> Worker::send(std::string_view bytes, const Deadline& end) const {
  while (!bytes.empty()) {
    MIRAGE_TRY_VOID(wait_until_ready(POLLOUT, end));
    const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0)
      bytes.remove_prefix(static_cast<size_t>(count));
    else if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
      return hung_up();
  }
  return {};
}

Result<void> Worker::receive(char* bytes, size_t count, const Deadline& end) const {
  while (count > 0) {
    MIRAGE_TRY_VOID(wait_until_ready(POLLIN, end));
    const ssize_t got = ::recv(socket_, bytes, count, MSG_DONTWAIT);
    if (got > 0) {
      bytes += got;
      count -= static_cast<size_t>(got);
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
      return hung_up();
    }
  }
  return {};
}

tl::unexpected<Error> Worker::reap() {
  // A process that crashed closes its files some time before it is gone.
  constexpr std::chrono::seconds kPatience{2};
  const auto end = std::chrono::steady_clock::now() + kPatience;
  int status = 0;
  while (::waitpid(process_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= end) ::kill(-process_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  process_ = -1;
  stop();
  return fail(Code::RunFailed, "{}", end_of_process(status));
}

void Worker::stop() {
  if (process_ > 0) {
    ::kill(-process_, SIGKILL);  // and its children, if it has any
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (socket_ >= 0) ::close(socket_);
  process_ = socket_ = -1;
}

namespace {

/// False at the end of the stream.
bool read_all(int descriptor, char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t got = ::read(descriptor, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    count -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

/// Nobody waits for the answer any more: ends this process, whatever it does.
void end_with_peer(int descriptor) {
  pollfd wait{descriptor, 0, 0};  // hang-ups are always reported
  while (::poll(&wait, 1, -1) <= 0) {
  }
  ::_exit(0);
}

}  // namespace

int serve(int descriptor, std::chrono::milliseconds idle,
          const std::function<std::string(std::string_view)>& answer) {
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  std::thread(end_with_peer, descriptor).detach();
  for (;;) {
    pollfd wait{descriptor, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(idle.count()));
    if (ready == 0) return 0;
    if (ready < 0) continue;
    uint64_t size = 0;
    if (!read_all(descriptor, reinterpret_cast<char*>(&size), sizeof size)) return 0;
    std::string request(size, '\0');
    if (!read_all(descriptor, request.data(), size)) return 0;
    const std::string reply = answer(request);
    size = reply.size();
    if (!write_all(descriptor, {reinterpret_cast<const char*>(&size), sizeof size}) ||
        !write_all(descriptor, reply))
      return 0;
  }
}

}  // namespace mirage::runtime
