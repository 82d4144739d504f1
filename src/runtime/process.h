#pragma once
// Child processes without a shell.

#include <chrono>
#include <string>
#include <vector>

#include "util/deadline.h"
#include "util/result.h"

namespace mirage::runtime {

struct ProcessResult {
  int status = 0;      // exit status, or 128 + signal
  std::string output;  // stdout and stderr together, at most 1 MiB
};

/// Runs a program found in PATH to its end. Io if it cannot be started, Timeout when killed, after
/// `limit` or at the deadline. `temporary_folder` becomes its TMPDIR: a program that is killed
/// leaves its temporary files there.
Result<ProcessResult> run_process(const std::vector<std::string>& command,
                                  std::chrono::milliseconds limit, const Deadline& deadline = {},
                                  const std::string& temporary_folder = {});

/// As exec wants them; they point into the words.
std::vector<char*> pointers_to(const std::vector<std::string>& words);

/// How a process ended before it had done what it should, from what waitpid says.
std::string end_of_process(int status);

}  // namespace mirage::runtime
