// mirage show: a graph as text, muGraph JSON or a drawing.

#include <memory>

#include "command.h"
#include "ir/load_file.h"
#include "ir/text.h"

namespace mirage::cli {
namespace {

struct Arguments {
  bool json = false;
  std::string file, format = "mu", epoch = "new";
};

std::string label_of(const ir::Graph& graph, ir::ValueId id) {
  const std::string& name = graph.value(id).name;
  return fmt::format("{}\\n{}", name.empty() ? std::to_string(id.index) : name,
                     ir::to_string(graph.type(id)));
}

/// Nodes of one graph; block bodies are clusters. `prefix` keeps names of several graphs apart.
std::string dot_nodes(const ir::Graph& graph, const std::string& prefix) {
  std::string out;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    out += fmt::format("  {}v{} [shape=ellipse,label=\"{}\"];\n", prefix, graph.inputs[i].index,
                       label_of(graph, graph.inputs[i]));
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const ir::Op& op = graph.ops[i];
    out += fmt::format("  {}o{} [shape=box,label=\"{}\\n{}\"];\n", prefix, i, ir::def(op.kind).name,
                       label_of(graph, op.results[0]));
    for (ir::ValueId operand : op.operands) {
      const ir::OpId from = graph.value(operand).def;
      out += from.is_valid() ? fmt::format("  {}o{}", prefix, from.index)
                             : fmt::format("  {}v{}", prefix, operand.index);
      out += fmt::format(" -> {}o{};\n", prefix, i);
    }
    if (op.body)
      out += fmt::format("  subgraph cluster_{}{} {{ label=\"block\";\n{}  }}\n", prefix, i,
                         dot_nodes(*op.body, fmt::format("{}b{}_", prefix, i)));
  }
  for (size_t i = 0; i < graph.outputs.size() && graph.level == ir::Level::Kernel; ++i) {
    const ir::OpId from = graph.value(graph.outputs[i]).def;
    out += fmt::format("  {0}r{1} [shape=ellipse,label=\"output {1}\"];\n", prefix, i);
    out += from.is_valid() ? fmt::format("  {}o{}", prefix, from.index)
                           : fmt::format("  {}v{}", prefix, graph.outputs[i].index);
    out += fmt::format(" -> {}r{};\n", prefix, i);
  }
  return out;
}

Result<int> run_show(const Arguments& arguments) {
  const std::optional<ir::Epoch> epoch = ir::epoch_named(arguments.epoch);
  if (!epoch) return bad_input("--epoch: expected old or new, found {}", arguments.epoch);
  MIRAGE_TRY(const std::vector<ir::GraphPtr> graphs, ir::load_graphs(arguments.file, *epoch));
  std::string text;
  if (arguments.format == "mu") {
    text = ir::print(std::span<const ir::GraphPtr>(graphs));
  } else if (arguments.format == "json") {
    MIRAGE_TRY(text, ir::export_mugraphs(graphs, *epoch));
    if (!text.ends_with('\n')) text += '\n';
  } else {
    for (size_t i = 0; i < graphs.size(); ++i)
      text += fmt::format("digraph g{} {{\n{}}}\n", i, dot_nodes(*graphs[i], ""));
  }
  if (!arguments.json) {
    print(text);
    return kFine;
  }
  Json rows = Json::array();
  for (const ir::GraphPtr& graph : graphs)
    rows.push_back({{"name", graph->name},
                    {"hash", to_hex(graph->hash)},
                    {"level", ir::name_of(graph->level)},
                    {"inputs", graph->inputs.size()},
                    {"outputs", graph->outputs.size()},
                    {"operators", graph->ops.size()}});
  print_document(Json{
      {"schema", "mirage/show/1"}, {"format", arguments.format}, {"graphs", rows}, {"text", text}});
  return kFine;
}

}  // namespace

void add_show(Commands& commands) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App& command = commands.add("show", "print graphs", arguments->json,
                                   [arguments] { return run_show(*arguments); });
  command.add_option("FILE", arguments->file, "a .mu file or muGraph JSON")->required();
  command.add_option("--format", arguments->format, "mu, json or dot")
      ->check(CLI::IsMember({"mu", "json", "dot"}));
  command.add_option("--epoch", arguments->epoch, "dtype codes of muGraph JSON: old or new");
}

}  // namespace mirage::cli
