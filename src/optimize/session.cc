#include "optimize/session.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "runtime/cache_folder.h"

namespace mirage::optimize {

Session::Session(SessionOptions options)
    : options_(std::move(options)), pool_(std::make_shared<runtime::ThreadPool>()) {
  if (!options_.worker_command.empty()) worker_.emplace(options_.worker_command);
  if (options_.is_cold) {
    std::string name = (std::filesystem::temp_directory_path() / "mirage-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) {
      cache_directory_ = name;
      return;
    }
    notes_.push_back("no temporary folder: the compiler cache of earlier runs is used");
    options_.is_cold = false;
  }
  cache_directory_ = runtime::cache_directory(options_.cache_directory);
}

Session::~Session() {
  std::error_code error;
  if (options_.is_cold) std::filesystem::remove_all(cache_directory_, error);
}

runtime::CompileOptions Session::compile_options() const {
  runtime::CompileOptions options;
  options.compiler = options_.compiler;
  options.cache_dir = cache_directory_;
  options.pool = pool_;
  return options;
}

tune::RecordStore* Session::records() {
  if (!tried_records_) {
    tried_records_ = true;
    Result<tune::RecordStore> store = tune::RecordStore::open(tune::record_file(cache_directory_));
    if (store) {
      for (const std::string& note : store->notes()) notes_.push_back(note);
      records_.emplace(std::move(*store));
    } else {
      notes_.push_back(store.error().message);
    }
  }
  return records_ ? &*records_ : nullptr;
}

std::vector<std::string> Session::take_notes() { return std::exchange(notes_, {}); }

}  // namespace mirage::optimize
