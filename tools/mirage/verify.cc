// mirage verify: is each graph of a file the same function as the reference?

#include "verify/verify.h"

#include <memory>

#include "command.h"
#include "ir/load_file.h"

namespace mirage::cli {
namespace {

struct Arguments {
  bool json = false;
  std::string reference, file, epoch = "new";
  bool no_proof = false;
  verify::VerifyOptions options;
};

Json json_of(size_t number, const verify::Verdict& verdict) {
  Json row = {{"graph", number},
              {"answer", verify::name_of(verdict.answer)},
              {"method", verify::name_of(verdict.method)},
              {"log2_error_bound", verdict.log2_error_bound},
              {"trials", verdict.trials},
              {"real_size_entries", verdict.real_size_entries},
              {"all_sizes", verdict.all_sizes},
              {"output_order", verdict.output_order},
              {"uninterpreted", verdict.uninterpreted},
              {"notes", verdict.notes},
              {"reason", verdict.reason}};
  if (const auto& witness = verdict.witness)
    row["witness"] = {{"input_shapes", witness->input_shapes},
                      {"seed", witness->seed},
                      {"scale", witness->scale},
                      {"output", witness->output},
                      {"entry", witness->entry},
                      {"reference", witness->reference},
                      {"candidate", witness->candidate},
                      {"bound", witness->bound},
                      {"text", witness->text}};
  return row;
}

Result<int> run_verify(Arguments& arguments) {
  const std::optional<ir::Epoch> epoch = ir::epoch_named(arguments.epoch);
  if (!epoch) return bad_input("--epoch: expected old or new, found {}", arguments.epoch);
  arguments.options.use_proof = !arguments.no_proof;
  arguments.options.real_size_work = verify::kThoroughWork;
  MIRAGE_TRY(const ir::GraphPtr reference, ir::load_graph(arguments.reference, *epoch));
  MIRAGE_TRY(const std::vector<ir::GraphPtr> graphs, ir::load_graphs(arguments.file, *epoch));
  const ir::FileRef ref = ir::file_ref(arguments.file);
  Json rows = Json::array();
  size_t counts[3] = {0, 0, 0};
  catch_interrupts();
  for (size_t i = 0; i < graphs.size() && !interrupted(); ++i) {
    const size_t number = ref.index.value_or(i);
    Result<verify::Verdict> verdict = verify::verify(*reference, *graphs[i], arguments.options);
    if (!verdict) {
      Error error = verdict.error();
      error.message = fmt::format("{}#{}: {}", ref.path, number, error.message);
      return tl::unexpected(std::move(error));
    }
    ++counts[static_cast<size_t>(verdict->answer)];
    if (arguments.json)
      rows.push_back(json_of(number, *verdict));
    else
      print(fmt::format("#{} {}\n", number, verify::to_string(*verdict)));
  }
  const size_t equivalent = counts[static_cast<size_t>(verify::Answer::Equivalent)];
  const size_t different = counts[static_cast<size_t>(verify::Answer::Different)];
  const size_t unknown = counts[static_cast<size_t>(verify::Answer::Unknown)];
  if (arguments.json)
    print_document(Json{{"schema", "mirage/verify/1"},
                        {"reference", arguments.reference},
                        {"file", arguments.file},
                        {"equivalent", equivalent},
                        {"different", different},
                        {"unknown", unknown},
                        {"graphs", rows}});
  else if (graphs.size() > 1)
    print(fmt::format("{} equivalent, {} different, {} unknown\n", equivalent, different, unknown));
  if (interrupted()) return int{kInterrupted};
  return int{different > 0 ? kDifferent : unknown > 0 ? kUnknown : kFine};
}

}  // namespace

void add_verify(Commands& commands) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App& command = commands.add("verify", "are graphs the same function as a reference?",
                                   arguments->json, [arguments] { return run_verify(*arguments); });
  command.add_option("REF", arguments->reference, "the reference program")->required();
  command
      .add_option("FILE", arguments->file, "FILE#n is one graph; FILE is every graph, a line each")
      ->required();
  command.add_option("--epoch", arguments->epoch, "dtype codes of muGraph JSON: old or new");
  command.add_option("--seed", arguments->options.seed, "of random evaluation")
      ->check(whole_number());
  command.add_flag("--no-proof", arguments->no_proof, "judge by random evaluation alone");
}

}  // namespace mirage::cli
