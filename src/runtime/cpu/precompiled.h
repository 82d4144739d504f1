#pragma once
// A precompiled header of what all units of a target begin with: parsing the headers is half of
// the work of compiling a unit. It is a help and never needed; compile() does without one that is
// missing or that the compiler does not take.

#include <string>
#include <vector>

#include "codegen/source_unit.h"
#include "runtime/cache_folder.h"
#include "runtime/compile_options.h"
#include "util/result.h"

namespace mirage::runtime {

/// The words between a compiler's name and what it shall make, of all compilations of this unit.
std::vector<std::string> common_words(const codegen::SourceUnit& unit, const Headers& headers);

/// The header that stands for the unit's prelude; precompiled if FILE.gch exists, which both
/// families of compilers look for when told to include FILE. Its name is a key of prelude, options,
/// device headers and compiler.
std::filesystem::path prelude_file(const codegen::SourceUnit& unit, const Headers& headers,
                                   const Compiler& compiler, const std::filesystem::path& cache);
std::filesystem::path precompiled_file(const std::filesystem::path& prelude);

}  // namespace mirage::runtime
