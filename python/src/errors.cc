#include "errors.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace mirage::python {

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Failure& failure) {
      try {
        const Error& error = failure.error;
        nb::object instance =
            nb::module_::import_("mirage.errors")
                .attr("from_core")(std::string(name_of(error.code)), error.message, error.notes);
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(instance.ptr())), instance.ptr());
      } catch (nb::python_error& broken) {
        broken.restore();
      }
    }
  });
}

}  // namespace mirage::python
