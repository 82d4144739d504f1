#include "runtime/cpu/blas.h"

#include <dlfcn.h>

namespace mirage::runtime {

void* blas_function(const std::string& name) {
  // Never closed: generated code keeps the pointer.
  void* const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  if (const auto set_threads =
          reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads")))
    set_threads(1);
  return dlsym(library, name.c_str());
}

}  // namespace mirage::runtime
