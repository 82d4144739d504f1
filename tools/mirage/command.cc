#include "command.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <new>
#include <stdexcept>

namespace mirage::cli {
namespace {

constexpr double kMostSeconds = 1e6;

std::atomic<bool> interrupt_flag = false;  // NOLINT: a signal handler has nothing else to set
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) {
  if (interrupt_flag.exchange(true)) std::_Exit(kInterrupted);
}

}  // namespace

CLI::App& Commands::add(const std::string& name, const std::string& description, bool& json,
                        const Body& body) {
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
  Result<int> code = fail(Code::LimitExceeded, "not enough memory");
  try {
    code = chosen_();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // a vector of more elements than there can be
  }
  if (code) return *code;
  print_error(code.error(), *json_);
  return exit_code(code.error());
}

CLI::Validator seconds(double least) {
  return {[least](const std::string& text) {
            double value = 0;
            const bool is_fine =
                CLI::detail::lexical_cast(text, value) && value >= least && value <= kMostSeconds;
            return is_fine ? std::string()
                           : fmt::format("expected {} to {} seconds, found {}", least, kMostSeconds,
                                         text);
          },
          "SECONDS"};
}

CLI::Validator whole_number() {
  return {[](const std::string& text) {
            const bool is_fine = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
            return is_fine ? std::string()
                           : fmt::format("expected a whole number >= 0, found {}", text);
          },
          "UINT"};
}

int exit_code(const Error& error) {
  switch (error.code) {
    case Code::BadInput:
      return kUsage;
    case Code::Mismatch:
      return kDifferent;
    case Code::Unsupported:
    case Code::LimitExceeded:
      return kUnavailable;
    case Code::Io:
      return kIo;
    case Code::CompileFailed:
    case Code::RunFailed:
    case Code::Timeout:
    case Code::Internal:
      return kInternal;
  }
  return kInternal;
}

namespace {

/// Names in messages come from files and arguments: what they contain must not look like more
/// lines.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return line;
}

}  // namespace

void print_error(const Error& error, bool json) {
  std::string line = "mirage: " + one_line(error.message) + "\n";
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

Result<void> check_writable(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  const std::string place = fs::exists(path, error) ? path : folder.empty() ? "." : folder.string();
  if (fs::is_directory(path, error) || access(place.c_str(), W_OK) != 0)
    return fail(Code::Io, "{}: cannot be written", path);
  return {};
}

const std::atomic<bool>& interrupted() { return interrupt_flag; }

void catch_interrupts() { std::signal(SIGINT, on_interrupt); }
void leave_interrupts() { std::signal(SIGINT, SIG_DFL); }

}  // namespace mirage::cli
