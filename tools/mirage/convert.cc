// mirage convert: between text and published JSON, by the names of the files.

#include <memory>

#include "command.h"
#include "ir/load_file.h"
#include "ir/text.h"

namespace mirage::cli {
namespace {

struct Arguments {
  bool json = false;
  std::string in, out, epoch = "new";
};

Result<int> run_convert(const Arguments& arguments) {
  const std::optional<ir::Epoch> epoch = ir::epoch_named(arguments.epoch);
  if (!epoch) return bad_input("--epoch: expected old or new, found {}", arguments.epoch);
  MIRAGE_TRY(const std::vector<ir::GraphPtr> graphs, ir::load_graphs(arguments.in, *epoch));
  std::string text;
  if (arguments.out.ends_with(".json")) {
    MIRAGE_TRY(text, ir::export_mugraphs(graphs, *epoch));
  } else if (arguments.out.ends_with(".mu")) {
    text = ir::print(std::span<const ir::GraphPtr>(graphs));
  } else {
    return bad_input("convert {}: expected a name that ends in .mu or .json", arguments.out);
  }
  MIRAGE_TRY_VOID(write_file(arguments.out, text));
  if (arguments.json)
    print_document(Json{{"schema", "mirage/convert/1"},
                        {"out", arguments.out},
                        {"epoch", ir::name_of(*epoch)},
                        {"graphs", graphs.size()},
                        {"bytes", text.size()}});
  return kFine;
}

}  // namespace

void add_convert(Commands& commands) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App& command = commands.add("convert", "between .mu and muGraph JSON", arguments->json,
                                   [arguments] { return run_convert(*arguments); });
  command.add_option("IN", arguments->in, "a .mu file or muGraph JSON")->required();
  command.add_option("OUT", arguments->out, "a name that ends in .mu or .json")->required();
  command.add_option("--epoch", arguments->epoch, "operator names and dtype codes: old or new");
}

}  // namespace mirage::cli
