#pragma once
// The one place where a Result becomes a Python exception (classes in mirage/errors.py).

#include <nanobind/nanobind.h>

#include <utility>

#include "util/result.h"

namespace mirage::python {

/// Thrown inside the bindings only; the translator of bind_errors turns it into a Python exception.
struct Failure {
  Error error;
};

template <class T>
T unwrap(Result<T> result) {
  if (!result) throw Failure{std::move(result).error()};
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{Error{Code::BadInput, fmt::format(format, std::forward<Args>(args)...), {}}};
}

/// A str as UTF-8; refuses what has none, such as half of a surrogate pair.
std::string utf8_of(nanobind::handle object, const char* what);

void bind_errors(nanobind::module_& module);

}  // namespace mirage::python
