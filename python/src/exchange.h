#pragma once
// DLPack's exchange interface: types of arrays that have it (PyTorch's since 2.10) hand out their
// memory by one call in C, where `__dlpack__` costs microseconds of Python.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>

namespace mirage::python {

/// A managed tensor of DLPack 1.x. The producer's memory lives as long.
struct ManagedTensor {
  struct Version {
    uint32_t major, minor;
  };
  static constexpr uint64_t kReadOnly = 1;

  Version version;
  void* context;
  void (*deleter)(ManagedTensor*);
  uint64_t flags;
  nanobind::dlpack::dltensor tensor;
};

struct Release {
  void operator()(ManagedTensor* tensor) const {
    if (tensor->deleter) tensor->deleter(tensor);
  }
};
using Exchanged = std::unique_ptr<ManagedTensor, Release>;

/// Null where the type of the object has no such interface, or the interface refuses the object.
Exchanged exchange(nanobind::handle object);

}  // namespace mirage::python
