// Block graphs written by the user, and the kernel-level operator they define.

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "graph.h"

namespace nb = nanobind;

namespace mirage::python {
namespace {

using PyAxis = std::tuple<std::string, std::string, int64_t>;

ir::Role role_named(const std::string& name) {
  for (ir::Role role : {ir::Role::Grid, ir::Role::Loop, ir::Role::Cluster, ir::Role::Warp})
    if (ir::name_of(role) == name) return role;
  refuse("block axis: expected role grid, loop, cluster or warp, found {}", name);
}

void make_block(BlockHandle* self, nb::handle axes_given, nb::handle threads_given) {
  std::vector<PyAxis> axes;
  int64_t threads = 0;
  if (!nb::try_cast(axes_given, axes))
    refuse("block: expected axes as (name, role, steps) with steps of 64 bits, found {}",
           nb::cast<std::string>(nb::repr(axes_given)));
  if (!nb::try_cast(threads_given, threads))
    refuse("block: expected threads as an integer of 64 bits, found {}",
           nb::cast<std::string>(nb::repr(threads_given)));
  ir::Launch launch;
  for (const auto& [name, role, trips] : axes)
    launch.axes.push_back({name, role_named(role), trips});
  if (threads < 0) refuse("block: expected threads >= 0, found {}", threads);
  launch.threads = threads;
  new (self) BlockHandle{
      {std::make_shared<GraphState>(unwrap(ir::GraphBuilder::block(std::move(launch))))}};
}

nb::list add_block(KernelHandle& self, const BlockHandle& body, nb::args operands) {
  std::vector<ir::ValueId> ids;
  for (nb::handle operand : operands)
    ids.push_back(operand_of(*self.state, operand, fmt::format("block: operand {}", ids.size())));
  nb::list results;
  for (ir::ValueId id : unwrap(self.state->builder.add_block(finished(*body.state), ids)))
    results.append(Tensor{self.state, id});
  return results;
}

}  // namespace

void bind_blocks(nb::class_<KernelHandle>& kernel, nb::class_<BlockHandle>& block) {
  block.def("__init__", make_block, nb::arg("axes"), nb::arg("threads") = 0,
            nb::sig("def __init__(self, axes: collections.abc.Sequence[tuple[str, str, int]], "
                    "threads: int = 0) "
                    "-> None"),
            "Axes are (name, role, trips), role \"grid\" or \"loop\"; threads 0 leaves the number "
            "to lowering.");
  block.def(
      "input",
      [](BlockHandle& self, const Tensor& x) {
        return Tensor{self.state, unwrap(self.state->builder.input(x.type()))};
      },
      nb::arg("x"), "The next operand of the kernel, of the type of x; to be read by load.");
  kernel.def("block", add_block,
             nb::sig("def block(self, body: BlockGraph, *xs: Tensor) -> "
                     "list[Tensor]"),
             "A kernel with this body; one result for each of its stores.");
}

}  // namespace mirage::python
