#include "errors.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace mirage::python {

namespace {

/// Messages may name files, whose names are any bytes.
nb::object to_str(const std::string& text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

}  // namespace

std::string utf8_of(nb::handle object, const char* what) {
  std::string text;
  if (nb::try_cast(object, text)) return text;
  refuse("{}: expected {}, found {}", what,
         nb::isinstance<nb::str>(object) ? "text that UTF-8 can say" : "a string",
         nb::cast<std::string>(nb::repr(object)));
}

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Failure& failure) {
      try {
        const Error& error = failure.error;
        nb::list notes;
        for (const std::string& note : error.notes) notes.append(to_str(note));
        nb::object instance =
            nb::module_::import_("mirage.errors")
                .attr("from_core")(std::string(name_of(error.code)), to_str(error.message), notes);
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(instance.ptr())), instance.ptr());
      } catch (nb::python_error& broken) {
        broken.restore();
      }
    }
  });
}

}  // namespace mirage::python
