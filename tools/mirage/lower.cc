// mirage lower, mirage emit: single stages.

#include "lower/lower.h"

#include <memory>

#include "codegen/emit.h"
#include "command.h"
#include "ir/load_file.h"

namespace mirage::cli {
namespace {

struct Arguments {
  bool json = false;
  std::string file, target = "cpu", out;
};

Result<lower::Program> lowered(const Arguments& arguments) {
  MIRAGE_TRY(const ir::GraphPtr graph, ir::load_graph(arguments.file));
  MIRAGE_TRY(const lower::Target target, lower::target_named(arguments.target));
  return lower::lower(graph, target);
}

Result<int> run_lower(const Arguments& arguments) {
  MIRAGE_TRY(const lower::Program program, lowered(arguments));
  if (arguments.json)
    print_document(Json{{"schema", "mirage/lower/1"},
                        {"program", program.name},
                        {"target", program.target.name},
                        {"kernels", program.launches.size()},
                        {"workspace_bytes", program.workspace_bytes},
                        {"text", lower::print(program)}});
  else
    print(lower::print(program));
  return kFine;
}

Result<int> run_emit(const Arguments& arguments) {
  MIRAGE_TRY(const lower::Program program, lowered(arguments));
  MIRAGE_TRY(const codegen::SourceUnit source, codegen::emit(program));
  if (!arguments.out.empty()) MIRAGE_TRY_VOID(write_file(arguments.out, source.text));
  if (arguments.json)
    print_document(Json{{"schema", "mirage/emit/1"},
                        {"program", program.name},
                        {"target", source.target},
                        {"options", source.options},
                        {"key", to_hex(source.key)},
                        {"text", source.text}});
  else if (arguments.out.empty())
    print(source.text);
  return kFine;
}

CLI::App& add_options(CLI::App& command, Arguments& arguments) {
  command.add_option("FILE", arguments.file, "a .mu file or muGraph JSON")->required();
  command.add_option("--target", arguments.target,
                     "cpu, native, or a name that `mirage targets` lists");
  return command;
}

}  // namespace

void add_lower(Commands& commands) {
  auto lower = std::make_shared<Arguments>();
  add_options(commands.add("lower", "a graph as a program for a target", lower->json,
                           [lower] { return run_lower(*lower); }),
              *lower);
  auto emit = std::make_shared<Arguments>();
  add_options(commands.add("emit", "a graph as source text", emit->json,
                           [emit] { return run_emit(*emit); }),
              *emit)
      .add_option("--out", emit->out, "write to this file instead of standard output");
}

}  // namespace mirage::cli
