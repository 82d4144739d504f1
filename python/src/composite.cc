// Composite operators: built of the operators of the table.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "graph.h"
#include "ir/compose.h"

namespace nb = nanobind;

namespace mirage::python {
namespace {

using Ints = std::vector<int64_t>;
using MaybeTensor = std::optional<Tensor>;

ir::ValueId id_in(const KernelHandle& self, const Tensor& tensor, const char* what) {
  return operand_of(*self.state, nb::cast(tensor), what);
}

template <class F>
Tensor compose(const KernelHandle& self, F&& f) {
  return {self.state, all_or_nothing(*self.state, [&] { return unwrap(f(self.state->builder)); })};
}

template <class F>
nb::list compose_all(const KernelHandle& self, F&& f) {
  nb::list results;
  for (ir::ValueId id : all_or_nothing(*self.state, [&] { return unwrap(f(self.state->builder)); }))
    results.append(Tensor{self.state, id});
  return results;
}

/// The second argument is a weight, or the published normalized_shape.
Tensor rms_norm(const KernelHandle& self, const Tensor& x, nb::handle weight,
                nb::handle normalized_shape, std::optional<double> eps) {
  const ir::ValueId id = id_in(self, x, "rms_norm: x");
  ir::NormOptions options;
  options.eps = eps;
  nb::handle shape = normalized_shape;
  if (nb::isinstance<Tensor>(weight)) {
    options.weight = id_in(self, nb::cast<const Tensor&>(weight), "rms_norm: weight");
  } else if (!weight.is_none()) {
    if (!shape.is_none()) refuse("rms_norm: weight should be a tensor of this graph");
    shape = weight;
  }
  if (shape.is_none())
    return compose(self, [&](auto& builder) { return ir::rms_norm(builder, id, options); });
  Ints extents;
  int64_t extent = 0;
  if (nb::try_cast(shape, extent))
    extents = {extent};
  else if (!nb::try_cast(shape, extents))
    refuse("rms_norm: expected a weight or a normalized_shape, found {}",
           nb::cast<std::string>(nb::repr(shape)));
  return compose(self, [&](auto& builder) { return ir::rms_norm(builder, id, extents, options); });
}

Tensor layer_norm(const KernelHandle& self, const Tensor& x, const MaybeTensor& weight,
                  const MaybeTensor& bias, std::optional<double> eps, int64_t axes) {
  if (axes < 1) refuse("layer_norm: expected axes >= 1, found {}", axes);
  const ir::ValueId id = id_in(self, x, "layer_norm: x");
  ir::NormOptions options;
  options.eps = eps;
  if (weight) options.weight = id_in(self, *weight, "layer_norm: weight");
  if (bias) options.bias = id_in(self, *bias, "layer_norm: bias");
  return compose(self, [&](auto& builder) {
    return ir::layer_norm(builder, id, options, static_cast<size_t>(axes));
  });
}

}  // namespace

void bind_composites(nb::class_<KernelHandle>& kernel) {
  kernel.def("rms_norm", rms_norm, nb::arg("x"), nb::arg("weight") = nb::none(),
             nb::arg("normalized_shape") = nb::none(), nb::arg("eps") = nb::none(),
             nb::sig("def rms_norm(self, x: Tensor, weight: Tensor | int | "
                     "collections.abc.Sequence[int] | None = "
                     "None, normalized_shape: int | collections.abc.Sequence[int] | None = None, "
                     "eps: float | None "
                     "= None) -> Tensor"),
             "x / sqrt(mean(x * x) + eps) * weight, the mean over the trailing axes of "
             "normalized_shape (the last axis). The shape may stand in the place of the weight.");
  kernel.def("layer_norm", layer_norm, nb::arg("x"), nb::arg("weight") = nb::none(),
             nb::arg("bias") = nb::none(), nb::arg("eps") = nb::none(), nb::arg("axes") = 1,
             nb::sig("def layer_norm(self, x: Tensor, weight: Tensor | None = None, bias: Tensor | "
                     "None = None, eps: float | None = None, axes: int = 1) -> Tensor"),
             "(x - mean) / sqrt(variance + eps) * weight + bias over the last `axes` axes.");
  kernel.def(
      "softmax",
      [](const KernelHandle& self, const Tensor& x, int64_t axis) {
        const ir::ValueId id = id_in(self, x, "softmax: x");
        return compose(self, [&](auto& builder) { return ir::softmax(builder, id, axis); });
      },
      nb::arg("x"), nb::arg("axis") = -1,
      "exp(x) / sum(exp(x)) along an axis; compiled programs do not overflow.");
  kernel.def(
      "safe_softmax",
      [](const KernelHandle& self, const Tensor& x, int64_t axis) {
        const ir::ValueId id = id_in(self, x, "safe_softmax: x");
        return compose(self, [&](auto& builder) { return ir::safe_softmax(builder, id, axis); });
      },
      nb::arg("x"), nb::arg("axis") = -1,
      "softmax whose shift by the maximum is part of the program.");
  kernel.def(
      "chunk",
      [](const KernelHandle& self, const Tensor& x, int64_t count, int64_t axis) {
        const ir::ValueId id = id_in(self, x, "chunk: x");
        return compose_all(self,
                           [&](auto& builder) { return ir::chunk(builder, id, count, axis); });
      },
      nb::arg("x"), nb::arg("count"), nb::arg("axis"),
      nb::sig("def chunk(self, x: Tensor, count: int, axis: int) -> list[Tensor]"),
      "Equal parts along an axis.");
  kernel.def(
      "split",
      [](const KernelHandle& self, const Tensor& x, const Ints& extents, int64_t axis) {
        const ir::ValueId id = id_in(self, x, "split: x");
        return compose_all(self,
                           [&](auto& builder) { return ir::split(builder, id, extents, axis); });
      },
      nb::arg("x"), nb::arg("extents"), nb::arg("axis"),
      nb::sig("def split(self, x: Tensor, extents: collections.abc.Sequence[int], axis: int) -> "
              "list[Tensor]"),
      "Parts of these extents along an axis.");
}

}  // namespace mirage::python
