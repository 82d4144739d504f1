// Graphs in files, and the published JSON format.

#include <nanobind/stl/string.h>

#include "errors.h"
#include "graph.h"
#include "ir/load_file.h"
#include "ir/mugraph_json.h"

namespace nb = nanobind;

namespace mirage::python {
namespace {

ir::Epoch epoch_of(const std::string& name) {
  const auto epoch = ir::epoch_named(name);
  if (!epoch) refuse("epoch: expected old or new, found {}", name);
  return *epoch;
}

/// The bytes of a path, which need not be text.
std::string path_of(nb::handle path) {
  try {
    const auto bytes = nb::cast<nb::bytes>(nb::module_::import_("os").attr("fsencode")(path));
    return {bytes.c_str(), bytes.size()};
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_UnicodeError)) throw;
    refuse("load: {} is no path", nb::cast<std::string>(nb::repr(path)));
  }
}

}  // namespace

void bind_files(nb::module_& module, nb::class_<KernelHandle>& kernel) {
  kernel.def(
      "mugraph_json",
      [](const KernelHandle& self, const std::string& epoch) {
        const std::vector<ir::GraphPtr> graphs = {finished(*self.state)};
        return unwrap(ir::export_mugraphs(graphs, epoch_of(epoch)));
      },
      nb::arg("epoch") = "new", "The graph in the published JSON format.");
  module.def(
      "load",
      [](nb::handle path, const std::string& epoch) {
        return handles(unwrap(ir::load_graphs(path_of(path), epoch_of(epoch))));
      },
      nb::arg("path"), nb::arg("epoch") = "new",
      nb::sig("def load(path: str | os.PathLike[str], epoch: str = 'new') -> list[Graph]"),
      "The graphs of a .mu or published .json file; \"FILE#3\" picks one. The epoch says what the "
      "dtype codes of a .json file mean.");
}

}  // namespace mirage::python
