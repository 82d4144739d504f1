// The extension module mirage._core: one file a topic registers its classes here.

#include <nanobind/nanobind.h>

NB_MODULE(_core, module) { module.attr("version") = MIRAGE_VERSION; }
