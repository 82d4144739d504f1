#include "command.h"

#include <csignal>
#include <cstdio>

namespace mirage::cli {
namespace {

std::atomic<bool> interrupt_flag = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) {
  if (interrupt_flag.exchange(true)) std::_Exit(kInterrupted);
}

}  // namespace

CLI::App& Commands::add(const std::string& name, const std::string& description, bool& json,
                        Body body) {
  CLI::App* command = app_.add_subcommand(name, description);
  command->add_flag("--json", json, "one JSON document on standard output");
  command->callback([this, &json, body] {
    json_ = &json;
    chosen_ = body;
  });
  return *command;
}

int Commands::run() {
  if (!chosen_) return kFine;
  Result<int> code = chosen_();
  if (code) return *code;
  print_error(code.error(), *json_);
  return exit_code(code.error());
}

int exit_code(const Error& error) {
  switch (error.code) {
    case Code::BadInput:
      return kUsage;
    case Code::Mismatch:
      return kDifferent;
    case Code::Unsupported:
      return kUnavailable;
    case Code::Io:
      return kIo;
    case Code::LimitExceeded:
    case Code::CompileFailed:
    case Code::RunFailed:
    case Code::Timeout:
    case Code::Internal:
      return kInternal;
  }
  return kInternal;
}

void print_error(const Error& error, bool json) {
  std::string line = "mirage: " + error.message + "\n";
  for (const std::string& note : error.notes) line += note + (note.ends_with('\n') ? "" : "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);
  if (json)
    print_document(Json{{"schema", "mirage/error/1"},
                        {"code", name_of(error.code)},
                        {"exit", exit_code(error)},
                        {"message", error.message},
                        {"notes", error.notes}});
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print_document(const Json& document) {
  print(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Result<void> write_file(const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return fail(Code::Io, "{}: cannot be written", path);
  const bool is_whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !is_whole) return fail(Code::Io, "{}: cannot be written", path);
  return {};
}

const std::atomic<bool>& interrupted() { return interrupt_flag; }

void catch_interrupts() { std::signal(SIGINT, on_interrupt); }

}  // namespace mirage::cli
