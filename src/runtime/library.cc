#include "runtime/library.h"

#include <dlfcn.h>
#include <fmt/ranges.h>

namespace mirage::runtime {

Result<Library> Library::open(std::string_view what, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    Library library;
    library.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_) return library;
  }
  return unsupported("no {}: none of {} can be loaded", what, fmt::join(names, ", "));
}

std::optional<Library> Library::in_use(const char* name) {
  Library library;
  library.handle_ = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  if (library.handle_ == nullptr) return std::nullopt;
  return library;
}

void* Library::symbol(const char* name) const { return dlsym(handle_, name); }

}  // namespace mirage::runtime
