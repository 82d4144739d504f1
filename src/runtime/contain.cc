#include "runtime/contain.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "runtime/process.h"

namespace mirage::runtime {
namespace {

// What the child leaves for its parent. `state` is written last.
struct Report {
  enum : int { Nothing = 0, Fine = 1, Failed = 2 };
  volatile int state;
  Code code;
  char message[4000];
};

}  // namespace

Result<SharedMemory> SharedMemory::make(size_t bytes) {
  const size_t size = std::max<size_t>(bytes, 1);
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return fail(Code::LimitExceeded, "cannot map {} bytes of shared memory: {}", bytes,
                std::strerror(errno));
  return SharedMemory(static_cast<std::byte*>(data), size);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_) munmap(data_, size_);
}

Result<void> contain(std::chrono::milliseconds limit, const std::function<Result<void>()>& body,
                     const Deadline& deadline) {
  MIRAGE_TRY(SharedMemory memory, SharedMemory::make(sizeof(Report)));
  auto* report = reinterpret_cast<Report*>(memory.data());
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return fail(Code::RunFailed, "cannot fork: {}", std::strerror(errno));
  if (child == 0) {
    // What hangs would hang for ever if its parent is killed.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM})
      signal(number, SIG_DFL);
    const Result<void> result = body();
    if (!result) {
      report->code = result.error().code;
      std::strncpy(report->message, result.error().message.c_str(), sizeof(report->message) - 1);
    }
    report->state = result ? Report::Fine : Report::Failed;
    _exit(0);  // no destructors, no flushing of what the parent has buffered
  }

  const Deadline end = deadline.no_later_than(Deadline::Clock::now() + limit);
  auto pause = std::chrono::microseconds(50);
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR)
      return fail(Code::RunFailed, "cannot wait for a child: {}", std::strerror(errno));
    if (end.is_over()) {
      kill(child, SIGKILL);
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      if (deadline.is_over()) return fail(Code::Timeout, "was stopped: no more time");
      return fail(Code::Timeout, "ran longer than {} ms", limit.count());
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(2000));
  }
  if (WIFSIGNALED(status)) return fail(Code::RunFailed, "{}", end_of_process(status));
  if (report->state == Report::Fine) return {};
  if (report->state == Report::Failed)
    return tl::unexpected(Error{report->code, report->message, {}});
  return fail(Code::RunFailed, "{}", end_of_process(status));
}

}  // namespace mirage::runtime
