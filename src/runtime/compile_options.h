#pragma once
// What compilers of every back end are told beside the text: which one, where its results are kept,
// how long it may take.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/thread_pool.h"
#include "util/deadline.h"

namespace mirage::runtime {

/// A C++ compiler that answered.
struct Compiler {
  std::vector<std::string> command;  // the program, and words that always follow it
  std::string version;               // first line of --version

  /// As reports and keys name it.
  std::string name() const;
};

struct CompileOptions {
  /// Words as a shell reads them; empty: $CXX, else the first of clang++, c++, g++ that is there.
  std::string compiler{};
  std::optional<Compiler> found{};  // what find_compiler said, to ask once instead of every time
  /// Empty: $MIRAGE_CACHE_DIR, else $XDG_CACHE_HOME/mirage, ~/.cache/mirage.
  std::string cache_dir{};
  bool use_cache = true;
  std::chrono::milliseconds time_limit{120000};
  Deadline deadline{};                 // the compiler is stopped then: Timeout
  std::shared_ptr<ThreadPool> pool{};  // shared by all executables of a session; null: a new one
};

}  // namespace mirage::runtime
