#pragma once
// What the subcommands share: exit codes, one way to report errors, output as text or JSON.

#include <CLI/CLI.hpp>
#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "util/result.h"

namespace mirage::cli {

using Json = nlohmann::ordered_json;

// Exit codes, documented in docs/cli.md.
inline constexpr int kFine = 0;
inline constexpr int kDifferent = 1;  // or a check failed
inline constexpr int kUnknown = 2;
inline constexpr int kUsage = 64;        // bad input or bad usage
inline constexpr int kUnavailable = 69;  // compiler, target, device or memory missing
inline constexpr int kInternal = 70;
inline constexpr int kIo = 74;
inline constexpr int kInterrupted = 130;

/// A subcommand's body; an error is printed and becomes an exit code.
using Body = std::function<Result<int>()>;

/// Registers a subcommand with the option --json. `body` runs if it is chosen.
class Commands {
 public:
  explicit Commands(CLI::App& app) : app_(app) {}
  CLI::App& add(const std::string& name, const std::string& description, bool& json,
                const Body& body);
  /// Runs the chosen subcommand and reports its error.
  int run();

 private:
  CLI::App& app_;
  bool no_json_ = false;
  const bool* json_ = &no_json_;
  Body chosen_;
};

/// For an option of seconds: from `least` to 1e6, which nan is not.
CLI::Validator seconds(double least);
/// For an option of an unsigned type, whose conversion would wrap around -1.
CLI::Validator whole_number();

int exit_code(const Error& error);
/// One line on the error stream for each message and note; a document on standard output with
/// --json.
void print_error(const Error& error, bool json);

void print(std::string_view text);
void print_document(const Json& document);

/// The whole file or Io.
Result<void> write_file(const std::string& path, std::string_view text);
/// Io if the file could not be made now: better known before a long run than after it.
Result<void> check_writable(const std::string& path);

/// Set by the first interrupt; the second one ends the program.
const std::atomic<bool>& interrupted();
void catch_interrupts();
/// An interrupt ends the program again.
void leave_interrupts();

// One function a file: adds its subcommands.
void add_bench(Commands& commands);
void add_cache(Commands& commands);
void add_convert(Commands& commands);
void add_lower(Commands& commands);
void add_optimize(Commands& commands);
void add_run(Commands& commands);
void add_search(Commands& commands);
void add_show(Commands& commands);
void add_tables(Commands& commands);
void add_verify(Commands& commands);
void add_worker(Commands& commands);

/// For optimize::SessionOptions: this program again, as a process that measures on a GPU.
std::vector<std::string> worker_command();

}  // namespace mirage::cli
