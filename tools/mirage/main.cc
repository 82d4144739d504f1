// The program `mirage`: reads the command line and calls the subcommand.

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
  CLI::App app("a superoptimizer for tensor programs", "mirage");
  app.set_version_flag("--version", "mirage " MIRAGE_VERSION);
  CLI11_PARSE(app, argc, argv);
  return 0;
}
