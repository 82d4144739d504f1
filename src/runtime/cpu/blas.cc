#include "runtime/cpu/blas.h"

#include "runtime/library.h"

namespace mirage::runtime {

void* blas_function(const std::string& name) {
  const auto library = Library::open("OpenBLAS", {"libopenblas.so.0"});
  if (!library) return nullptr;
  void (*set_threads)(int) = nullptr;
  if (library->find("openblas_set_num_threads", set_threads)) set_threads(1);
  return library->symbol(name.c_str());
}

}  // namespace mirage::runtime
