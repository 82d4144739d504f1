#pragma once
// What outlives one run: the record store, the folder of compiled code, the threads, the process
// that measures on a GPU. There are no globals; whoever runs programs owns a session.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/compile_options.h"
#include "runtime/thread_pool.h"
#include "tune/gpu_worker.h"
#include "tune/records.h"
#include "util/result.h"

namespace mirage::optimize {

struct SessionOptions {
  std::string compiler;         // empty: see runtime::CompileOptions
  std::string cache_directory;  // empty: see runtime::cache_directory
  bool is_cold = false;  // a fresh folder, removed with the session: nothing from earlier runs
  /// A program that calls tune::serve_gpu_worker(). Empty: programs of a GPU are measured in forked
  /// children, which cannot use it once this process has.
  std::vector<std::string> worker_command{};
};

class Session {
 public:
  explicit Session(SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  runtime::CompileOptions compile_options() const;
  /// Null if it has no command. Started when it is first needed.
  tune::GpuWorker* gpu_worker() { return worker_ ? &*worker_ : nullptr; }
  const std::string& cache_directory() const { return cache_directory_; }
  /// Opened when first asked for; null, with a note, where it cannot be opened.
  tune::RecordStore* records();
  /// What went wrong beside the work, once each: taken by the next report.
  std::vector<std::string> take_notes();

 private:
  SessionOptions options_;
  std::string cache_directory_;
  std::shared_ptr<runtime::ThreadPool> pool_;
  std::optional<tune::RecordStore> records_;
  std::optional<tune::GpuWorker> worker_;
  bool tried_records_ = false;
  std::vector<std::string> notes_;
};

}  // namespace mirage::optimize
