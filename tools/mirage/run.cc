// mirage run: a program on arrays from files, or on random ones.

#include <cmath>
#include <map>
#include <memory>

#include "codegen/emit.h"
#include "command.h"
#include "ir/load_file.h"
#include "lower/lower.h"
#include "npy.h"
#include "optimize/session.h"
#include "runtime/load.h"
#include "tune/check.h"
#include "tune/inputs.h"
#include "tune/machine.h"

namespace mirage::cli {
namespace {

struct Arguments {
  bool json = false;
  std::string file, target = "cpu";
  std::vector<std::string> inputs, outputs;
  uint64_t seed = 0;
  bool is_random = false;
  int threads = 0;
};

std::string name_of(const ir::Graph& graph, ir::ValueId id, size_t position) {
  const std::string& name = graph.value(id).name;
  return name.empty() ? std::to_string(position) : name;
}

/// NAME=FILE pairs; a name is that of a value, or its position.
Result<std::map<size_t, std::string>> files_by_position(const std::vector<std::string>& pairs,
                                                        const ir::Graph& graph,
                                                        const std::vector<ir::ValueId>& values,
                                                        std::string_view what) {
  std::map<size_t, std::string> files;
  for (const std::string& pair : pairs) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos)
      return bad_input("--{} {}: expected NAME=FILE.npy", what, pair);
    const std::string name = pair.substr(0, equals);
    size_t position = values.size();
    std::string known;
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string own = name_of(graph, values[i], i);
      if (name == own || name == std::to_string(i)) position = i;
      known += (known.empty() ? "" : ", ") + own;
    }
    if (position == values.size())
      return bad_input("--{} {}: no such {}, expected one of {}", what, name, what, known);
    if (files.contains(position)) return bad_input("--{} {}: given twice", what, name);
    files[position] = pair.substr(equals + 1);
  }
  return files;
}

Result<std::vector<tune::HostTensor>> inputs_of(const Arguments& arguments,
                                                const ir::Graph& graph) {
  MIRAGE_TRY(const auto files, files_by_position(arguments.inputs, graph, graph.inputs, "input"));
  if (!arguments.is_random)
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      if (!files.contains(i))
        return bad_input("input {} is missing: give --input {}=FILE.npy or --random SEED",
                         name_of(graph, graph.inputs[i], i), name_of(graph, graph.inputs[i], i));
  MIRAGE_TRY(auto inputs, tune::make_inputs(graph, tune::Family::Ordinary, arguments.seed));
  for (const auto& [i, path] : files)
    MIRAGE_TRY_VOID(read_npy(path, name_of(graph, graph.inputs[i], i), inputs[i]));
  return inputs;
}

Json summary_of(const std::string& name, const tune::HostTensor& tensor) {
  const std::vector<double> values = tensor.to_doubles();
  double least = INFINITY, most = -INFINITY, sum = 0;
  int64_t not_finite = 0;
  for (double value : values) {
    if (!std::isfinite(value)) {
      ++not_finite;
      continue;
    }
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
  }
  const auto finite = static_cast<double>(static_cast<int64_t>(values.size()) - not_finite);
  Json row = {
      {"name", name},
      {"type", ir::to_string(tensor.type())},
      {"not_finite", not_finite},
      {"first", std::vector<double>(
                    values.begin(),
                    values.begin() + std::min<int64_t>(4, static_cast<int64_t>(values.size())))}};
  if (finite > 0) {
    row["min"] = least;
    row["max"] = most;
    row["mean"] = sum / finite;
  }
  return row;
}

/// Null if an interrupt stopped the compiler.
Result<std::shared_ptr<const runtime::Executable>> loaded(const codegen::SourceUnit& source,
                                                          runtime::CompileOptions options) {
  catch_interrupts();
  options.deadline = Deadline().or_when(&interrupted());
  auto executable = runtime::load(source, options);
  leave_interrupts();
  if (interrupted()) return std::shared_ptr<const runtime::Executable>();
  return executable;
}

Result<int> run_run(const Arguments& arguments) {
  MIRAGE_TRY(const ir::GraphPtr graph, ir::load_graph(arguments.file));
  MIRAGE_TRY(const auto output_files,
             files_by_position(arguments.outputs, *graph, graph->outputs, "output"));
  MIRAGE_TRY(const auto inputs, inputs_of(arguments, *graph));
  MIRAGE_TRY(const lower::Target target, lower::target_named(arguments.target));
  if (target.backend == lower::Backend::Cpu && !lower::runs_here(target))
    return unsupported("target {}: this processor does not have its instructions", target.name);
  MIRAGE_TRY(const lower::Program program, lower::lower(graph, target));
  MIRAGE_TRY(const codegen::SourceUnit source, codegen::emit(program));
  optimize::Session session;
  MIRAGE_TRY(const auto executable, loaded(source, session.compile_options()));
  if (executable == nullptr) return int{kInterrupted};
  MIRAGE_TRY(const auto outputs, tune::make_outputs(*graph));
  const int threads = arguments.threads > 0 ? arguments.threads : tune::core_count();
  MIRAGE_TRY_VOID(executable->run(tune::views_of(inputs), tune::views_of(outputs), threads));
  Json rows = Json::array();
  std::string text;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Json row = summary_of(name_of(*graph, graph->outputs[i], i), outputs[i]);
    text += fmt::format("{} {}", row["name"].get<std::string>(), row["type"].get<std::string>());
    if (row.contains("mean"))
      text += fmt::format("  min {:.6g}  max {:.6g}  mean {:.6g}", row["min"].get<double>(),
                          row["max"].get<double>(), row["mean"].get<double>());
    text += fmt::format("  not finite {}\n", row["not_finite"].get<int64_t>());
    rows.push_back(row);
    if (const auto file = output_files.find(i); file != output_files.end())
      MIRAGE_TRY_VOID(write_npy(file->second, outputs[i]));
  }
  if (arguments.json)
    print_document(Json{{"schema", "mirage/run/1"},
                        {"program", graph->name},
                        {"target", target.name},
                        {"outputs", rows}});
  else
    print(text);
  return kFine;
}

}  // namespace

void add_run(Commands& commands) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App& command = commands.add("run", "compile a program as written and run it",
                                   arguments->json, [arguments] { return run_run(*arguments); });
  command.add_option("FILE", arguments->file, "a .mu file or muGraph JSON")->required();
  command.add_option("--input", arguments->inputs, "NAME=FILE.npy, once an input");
  command
      .add_option_function<uint64_t>(
          "--random",
          [arguments](const uint64_t& seed) {
            arguments->is_random = true;
            arguments->seed = seed;
          },
          "random values, from this seed, for inputs without a file")
      ->check(whole_number());
  command.add_option("--output", arguments->outputs, "NAME=FILE.npy: where an output goes");
  command.add_option("--target", arguments->target,
                     "cpu, native, or a name that `mirage targets` lists");
  command.add_option("--threads", arguments->threads, "threads; all cores if left out")
      ->check(CLI::Range(1, 1024));
}

}  // namespace mirage::cli
