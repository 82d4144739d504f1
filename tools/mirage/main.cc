// The program `mirage`: reads the command line and calls the subcommand.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <span>
#include <string_view>

#include "command.h"

namespace {

/// CLI11's message in one line.
std::string one_line(std::string text) {
  for (char& letter : text)
    if (letter == '\n') letter = ' ';
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

/// CLI11 only says that there is no subcommand.
std::string usage_error(const CLI::App& app, std::span<char* const> arguments, std::string text) {
  if (arguments.size() < 2) return text + "; `mirage --help` lists them";
  const std::string name = arguments[1];
  const auto is_named = [&](const CLI::App* command) { return command->get_name() == name; };
  if (name.starts_with('-') || !app.get_subcommands(is_named).empty()) return text;
  return fmt::format("there is no subcommand '{}'; `mirage --help` lists them", name);
}

/// Standard streams that the caller closed get a place where writing fails: the next file that is
/// opened must not become one of them.
void keep_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF)
      open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// The exit code, or that of a result that nobody got.
int finished(int code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  mirage::cli::print_error(
      {mirage::Code::Io, fmt::format("standard output: {}", std::strerror(errno)), {}}, false);
  return mirage::cli::kIo;
}

int run(int argc, char** argv) {
  using namespace mirage::cli;
  CLI::App app("a superoptimizer for tensor programs", "mirage");
  app.set_version_flag("--version", "mirage " MIRAGE_VERSION);
  app.require_subcommand(1);
  Commands commands(app);
  add_optimize(commands);
  add_search(commands);
  add_verify(commands);
  add_run(commands);
  add_show(commands);
  add_convert(commands);
  add_lower(commands);
  add_bench(commands);
  add_tables(commands);
  add_cache(commands);
  add_worker(commands);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const std::span<char* const> arguments(argv, static_cast<size_t>(argc));
    const bool json = std::any_of(arguments.begin(), arguments.end(), [](const char* argument) {
      return std::string_view(argument) == "--json";
    });
    const std::string message = usage_error(app, arguments, one_line(error.what()));
    print_error({mirage::Code::BadInput, message, {}}, json);
    return kUsage;
  }
  return commands.run();
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like a full disk
  keep_standard_streams();
  return finished(run(argc, argv));
}
