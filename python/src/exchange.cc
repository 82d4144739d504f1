#include "exchange.h"

namespace nb = nanobind;

namespace mirage::python {
namespace {

constexpr uint32_t kMajor = 1;  // the version whose layout is declared here

/// The part of DLPack's table of functions up to the one that is called.
struct Table {
  ManagedTensor::Version version;
  const Table* older;
  void* allocate;
  int (*from_object)(void* object, ManagedTensor** result);
};

const Table* table_of(nb::handle type) {
  PyObject* const found = PyObject_GetAttrString(type.ptr(), "__dlpack_c_exchange_api__");
  if (!found) {
    PyErr_Clear();
    return nullptr;
  }
  const nb::object capsule = nb::steal(found);
  const void* const pointer = PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api");
  if (!pointer) PyErr_Clear();
  const auto* table = static_cast<const Table*>(pointer);
  while (table && table->version.major != kMajor) table = table->older;
  return table;
}

}  // namespace

Exchanged exchange(nb::handle object) {
  const Table* const table = table_of(object.type());
  ManagedTensor* tensor = nullptr;
  if (table && table->from_object(object.ptr(), &tensor) != 0) {
    PyErr_Clear();
    return nullptr;
  }
  return Exchanged(tensor);
}

}  // namespace mirage::python
