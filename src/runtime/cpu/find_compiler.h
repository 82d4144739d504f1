#pragma once
// Which C++ compiler there is, and whether it works.

#include <string>
#include <string_view>
#include <vector>

#include "runtime/compile_options.h"
#include "util/result.h"

namespace mirage::runtime {

/// Splits as a shell does: at blanks outside of quotes; a backslash takes the next character as it
/// is, but not between single quotes. Nothing is expanded. BadInput: a quote without its end.
Result<std::vector<std::string>> split_words(std::string_view text);

/// The compiler that compile() would use. Unsupported names the one that was asked for: it is not
/// there, fails, or does not answer within two seconds.
Result<Compiler> find_compiler(const std::string& wanted = {});

/// What was found before, else find_compiler.
Result<Compiler> compiler_of(const CompileOptions& options);

/// Compiles a file of nothing with these options. Unsupported carries the first line of what the
/// compiler says: it is the compiler that does not work, and not the text it was given.
Result<void> check_that_it_works(const Compiler& compiler, const std::vector<std::string>& options);

}  // namespace mirage::runtime
