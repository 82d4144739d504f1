#pragma once
// Shared libraries that are looked for when they are needed: nothing of a vendor is linked to.

#include <optional>
#include <string>
#include <vector>

#include "util/result.h"

namespace mirage::runtime {

class Library {
 public:
  Library() = default;

  /// The first of the names that can be loaded; it stays loaded. Unsupported says what was tried.
  static Result<Library> open(std::string_view what, const std::vector<std::string>& names);

  /// One that is in this process already.
  static std::optional<Library> in_use(const char* name);

  /// Null if it is not there.
  void* symbol(const char* name) const;
  /// Fills in a pointer to a function; whether it is there.
  template <class F>
  bool find(const char* name, F*& function) const {
    function = reinterpret_cast<F*>(symbol(name));
    return function != nullptr;
  }

 private:
  void* handle_ = nullptr;
};

}  // namespace mirage::runtime
