// Verdicts, and verification of a pair of graphs.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "graph.h"
#include "verify/verify.h"

namespace nb = nanobind;

namespace mirage::python {

using verify::Verdict;

void bind_verdicts(nb::module_& module) {
  nb::class_<Verdict>(module, "Verdict",
                      "Whether two programs are the same function; true if they are.")
      .def_prop_ro(
          "answer", [](const Verdict& self) { return std::string(name_of(self.answer)); },
          "\"equivalent\", \"different\" or \"unknown\".")
      .def_prop_ro(
          "method", [](const Verdict& self) { return std::string(name_of(self.method)); },
          "How that was found.")
      .def_ro("log2_error_bound", &Verdict::log2_error_bound,
              "Base-2 logarithm of the probability that a wrong pair passed; 0: none is claimed.")
      .def_ro("trials", &Verdict::trials, "Random evaluations over finite fields.")
      .def_ro("real_size_entries", &Verdict::real_size_entries,
              "Output entries that were compared at the real size.")
      .def_ro("all_sizes", &Verdict::all_sizes, "Holds for all extents, not only for these.")
      .def_ro("output_order", &Verdict::output_order,
              "Entry i is the candidate's output that computes output i of the reference.")
      .def_ro("uninterpreted", &Verdict::uninterpreted,
              "Functions of which only equal arguments with equal results were used.")
      .def_ro("notes", &Verdict::notes, "What was assumed or restricted, a line each.")
      .def_ro("reason", &Verdict::reason, "Why the answer is not \"equivalent\".")
      .def_prop_ro(
          "witness",
          [](const Verdict& self) -> std::optional<std::string> {
            if (!self.witness) return std::nullopt;
            return self.witness->text;
          },
          "Inputs on which the two differ, in words.")
      .def("__bool__", &Verdict::is_equivalent)
      .def("__str__", [](const Verdict& self) { return verify::to_string(self); })
      .def("__repr__",
           [](const Verdict& self) { return "<Verdict: " + verify::to_string(self) + ">"; });
  module.def(
      "verify",
      [](const KernelHandle& reference, const KernelHandle& candidate, uint64_t seed) {
        const ir::GraphPtr program = finished(*reference.state);
        const ir::GraphPtr other = finished(*candidate.state);
        verify::VerifyOptions options;
        options.seed = seed;
        options.real_size_work = verify::kThoroughWork;
        nb::gil_scoped_release release;
        return unwrap(verify::verify(*program, *other, options));
      },
      nb::arg("reference"), nb::arg("candidate"), nb::arg("seed") = 1,
      "Whether the candidate computes the same function as the reference.");
}

}  // namespace mirage::python
