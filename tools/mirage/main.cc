// The program `mirage`: reads the command line and calls the subcommand.

#include "command.h"

namespace {

/// CLI11's message in one line.
std::string one_line(std::string text) {
  for (char& letter : text)
    if (letter == '\n') letter = ' ';
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace

int main(int argc, char** argv) {
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
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    print_error({mirage::Code::BadInput, one_line(error.what()), {}}, false);
    return kUsage;
  }
  return commands.run();
}
