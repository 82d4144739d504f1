// mirage ops, mirage targets: what there is.

#include <memory>

#include "command.h"
#include "ir/op_table.h"
#include "lower/target.h"

namespace mirage::cli {
namespace {

struct Arguments {
  bool json = false, markdown = false;
};

std::string_view name_of(ir::Form form) {
  switch (form) {
    case ir::Form::Leaf:
      return "leaf";
    case ir::Form::Map:
      return "map";
    case ir::Form::Contract:
      return "contract";
    case ir::Form::Reduce:
      return "reduce";
    case ir::Form::Move:
      return "move";
    case ir::Form::Accum:
      return "accumulator";
    case ir::Form::Block:
      return "block";
  }
  return "?";
}

std::string levels_of(const ir::OpDef& row) {
  std::string out;
  for (ir::Level level : {ir::Level::Kernel, ir::Level::Block, ir::Level::Thread})
    if (row.exists_at(level)) out += (out.empty() ? "" : " ") + std::string(ir::name_of(level));
  return out;
}

/// In a cell of a Markdown table a bar ends the cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string attributes_of(const ir::OpDef& row) {
  std::string out;
  for (ir::AttrKey key : row.attrs) out += (out.empty() ? "" : " ") + std::string(ir::name_of(key));
  return out;
}

Result<int> run_ops(const Arguments& arguments) {
  if (arguments.json) {
    Json rows = Json::array();
    for (const ir::OpDef& row : ir::op_table())
      rows.push_back({{"name", row.name},
                      {"operands", row.arity},
                      {"form", name_of(row.form)},
                      {"levels", levels_of(row)},
                      {"attributes", attributes_of(row)},
                      {"index_rule", row.index_rule},
                      {"description", row.description}});
    print_document(Json{{"schema", "mirage/ops/1"}, {"operators", rows}});
    return kFine;
  }
  std::string text;
  if (arguments.markdown)
    text =
        "# Operators\n\nWritten by `mirage ops --md` from the op table (src/ir/ops.def).\n\n"
        "| name | operands | form | levels | attributes | meaning |\n|---|---|---|---|---|---|\n";
  for (const ir::OpDef& row : ir::op_table()) {
    const std::string operands = row.arity < 0 ? "1 or more" : std::to_string(row.arity);
    text += arguments.markdown
                ? fmt::format("| {} | {} | {} | {} | {} | {} |\n", row.name, operands,
                              name_of(row.form), levels_of(row), attributes_of(row),
                              cell(row.description))
                : fmt::format("{:<14} {:<9} {}\n", row.name, operands, row.description);
  }
  print(text);
  return kFine;
}

Result<int> run_targets(const Arguments& arguments) {
  Json rows = Json::array();
  std::string text;
  for (const lower::Target& target : lower::target_table()) {
    const bool runs = target.backend == lower::Backend::Cpu && lower::runs_here(target);
    const std::string_view backend = target.backend == lower::Backend::Cpu    ? "cpu"
                                     : target.backend == lower::Backend::Cuda ? "cuda"
                                                                              : "triton";
    rows.push_back({{"name", target.name},
                    {"backend", backend},
                    {"units", target.units},
                    {"runs_here", runs}});
    text += fmt::format("{:<14} {:<7} {}\n", target.name, backend, runs ? "runs here" : "not here");
  }
  if (arguments.json)
    print_document(Json{{"schema", "mirage/targets/1"}, {"targets", rows}});
  else
    print(text);
  return kFine;
}

}  // namespace

void add_tables(Commands& commands) {
  auto ops = std::make_shared<Arguments>();
  commands.add("ops", "all operators", ops->json, [ops] { return run_ops(*ops); })
      .add_flag("--md", ops->markdown, "as the page docs/ops.md");
  auto targets = std::make_shared<Arguments>();
  commands.add("targets", "what programs can be built for", targets->json,
               [targets] { return run_targets(*targets); });
}

}  // namespace mirage::cli
