#pragma once
// A process of its own that answers requests, one after the other: a program started afresh, not a
// fork. A process that has used a GPU cannot fork children that do, but it can start others. It may
// crash or hang; then the request has an error and the next one a new process.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "util/deadline.h"
#include "util/result.h"

namespace mirage::runtime {

class Worker {
 public:
  /// A program that calls serve(). It is started when it is needed.
  explicit Worker(std::vector<std::string> command) : command_(std::move(command)) {}
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Starts a process if there is none. The number counts processes: another one knows nothing of
  /// earlier requests. Io if the program cannot be started.
  Result<int> ensure_running();

  /// The answer. RunFailed if the process dies, Timeout if it takes longer than `limit` or the
  /// deadline, as contain() words them; then it is stopped. Not from several threads at once.
  Result<std::string> call(std::string_view request, std::chrono::milliseconds limit,
                           const Deadline& deadline = {});

  /// Kills the process, if there is one.
  void stop();

 private:
  Result<std::string> exchange(std::string_view request, const Deadline& end);
  Result<void> wait_until_ready(short event, const Deadline& end) const;
  Result<void> send(std::string_view bytes, const Deadline& end) const;
  Result<void> receive(char* bytes, size_t count, const Deadline& end) const;
  /// Waits for the process, which has hung up, and says how it ended.
  tl::unexpected<Error> reap();

  std::vector<std::string> command_;
  pid_t process_ = -1;
  int socket_ = -1;
  int started_ = 0;
};

/// The descriptor at which a worker finds its requests.
inline constexpr int kWorkerDescriptor = 3;

/// What a worker does: answers requests until the other end hangs up, which also ends it in the
/// middle of one, or none has come for so long. The exit status.
int serve(int descriptor, std::chrono::milliseconds idle,
          const std::function<std::string(std::string_view)>& answer);

}  // namespace mirage::runtime
