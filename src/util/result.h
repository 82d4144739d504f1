#pragma once
// How anything that can fail for a reason outside our code reports it: Result<T> carries a value or
// an Error. Core code throws nothing; the bindings translate errors into exceptions once.

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace mirage {

enum class Code {
  BadInput,       // the user's program, file or argument is wrong
  Unsupported,    // well formed, but this target or stage cannot do it
  LimitExceeded,  // a budget or a resource of the target is exhausted
  CompileFailed,  // the system compiler refused generated code
  RunFailed,      // a built kernel crashed
  Mismatch,       // what should agree does not: an output, a candidate, a record
  Timeout,
  Io,
  Internal,
};

std::string_view name_of(Code code);

struct Error {
  Code code = Code::Internal;
  std::string
      message;  // lower case, no full stop, names operator and value, says expected and found
  std::vector<std::string> notes;
};

template <class T>
using Result = tl::expected<T, Error>;

template <class... Args>
tl::unexpected<Error> fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...), {}});
}

template <class... Args>
tl::unexpected<Error> bad_input(fmt::format_string<Args...> format, Args&&... args) {
  return fail(Code::BadInput, format, std::forward<Args>(args)...);
}

template <class... Args>
tl::unexpected<Error> unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return fail(Code::Unsupported, format, std::forward<Args>(args)...);
}

}  // namespace mirage

#define MIRAGE_CONCAT_INNER(a, b) a##b
#define MIRAGE_CONCAT(a, b) MIRAGE_CONCAT_INNER(a, b)

/// MIRAGE_TRY(auto x, f()) declares x from a Result, or returns its error from the enclosing
/// function.
#define MIRAGE_TRY(declaration, expression)                                     \
  auto MIRAGE_CONCAT(result_, __LINE__) = (expression);                         \
  if (!MIRAGE_CONCAT(result_, __LINE__))                                        \
    return tl::unexpected(std::move(MIRAGE_CONCAT(result_, __LINE__)).error()); \
  declaration = std::move(*MIRAGE_CONCAT(result_, __LINE__))

/// The same for Result<void>.
#define MIRAGE_TRY_VOID(expression)                                                            \
  if (auto MIRAGE_CONCAT(result_, __LINE__) = (expression); !MIRAGE_CONCAT(result_, __LINE__)) \
  return tl::unexpected(std::move(MIRAGE_CONCAT(result_, __LINE__)).error())
