// The float64 reference, for arrays.

#include "array.h"
#include "errors.h"
#include "graph.h"
#include "interp/interp.h"
#include "ir/element.h"
#include "program.h"

namespace nb = nanobind;

namespace mirage::python {
namespace {

/// Calls f(address, row-major index) for every element.
template <class F>
void for_each_element(const runtime::TensorView& view, F&& f) {
  const int64_t count = ir::element_count(view.shape), bytes = ir::bytes_of(view.dtype);
  std::vector<int64_t> index(view.shape.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    f(static_cast<std::byte*>(view.data) + offset * bytes, static_cast<size_t>(i));
    for (size_t axis = index.size(); axis-- > 0;) {
      offset += view.strides[axis];
      if (++index[axis] < view.shape[axis]) break;
      offset -= view.strides[axis] * view.shape[axis];
      index[axis] = 0;
    }
  }
}

void evaluate(const KernelHandle& self, nb::sequence inputs, nb::sequence outputs) {
  const ir::GraphPtr graph = finished(*self.state);
  auto results = output_arguments(*graph);
  for (codegen::Argument& result : results) {
    result.dtype = ir::DType::F64;
    result.strides = ir::row_major_strides(result.shape);
  }
  const auto read = arrays_of(inputs, input_arguments(*graph), false, "input");
  const auto written = arrays_of(outputs, results, true, "output");
  check_overlap(read, written);
  nb::gil_scoped_release release;
  std::vector<interp::TensorF64> values;
  for (const Array& array : read) {
    interp::TensorF64& value = values.emplace_back(array.view.shape);
    for_each_element(array.view, [&](const std::byte* address, size_t i) {
      value.data[i] = ir::load_element(array.view.dtype, address);
    });
  }
  const auto computed = unwrap(interp::evaluate(*graph, values));
  for (size_t i = 0; i < written.size(); ++i)
    for_each_element(written[i].view, [&](std::byte* address, size_t j) {
      ir::store_element(ir::DType::F64, address, computed[i].data[j]);
    });
}

}  // namespace

void bind_evaluate(nb::module_& module) {
  module.def("evaluate", evaluate, nb::arg("graph"), nb::arg("inputs"), nb::arg("outputs"),
             nb::sig("def evaluate(graph: Graph, inputs: collections.abc.Sequence[object], "
                     "outputs: collections.abc.Sequence[object]) -> None"),
             "Computes the outputs (f64, row-major) in float64, by the interpreter.");
}

}  // namespace mirage::python
