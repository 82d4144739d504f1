#include "runtime/cpu/precompiled.h"

#include <system_error>

#include "runtime/cpu/compile.h"
#include "runtime/cpu/find_compiler.h"
#include "runtime/process.h"
#include "util/hash.h"

namespace mirage::runtime {

namespace fs = std::filesystem;

std::vector<std::string> common_words(const codegen::SourceUnit& unit, const Headers& headers) {
  std::vector<std::string> words = unit.options;
  for (const std::string& word :
       {std::string("-fPIC"), std::string("-w"), "-I" + headers.folder.string()})
    words.push_back(word);
  return words;
}

fs::path prelude_file(const codegen::SourceUnit& unit, const Headers& headers,
                      const Compiler& compiler, const fs::path& cache) {
  Hasher hasher;
  hasher.add(unit.prelude).add(headers.hash).add(compiler.name()).add(compiler.version);
  for (const std::string& option : unit.options) hasher.add(option);
  return cache / "precompiled" / (to_hex(hasher.finish()) + ".h");
}

fs::path precompiled_file(const fs::path& prelude) { return prelude.string() + ".gch"; }

Result<void> precompile(const codegen::SourceUnit& unit, const CompileOptions& options) {
  if (unit.prelude.empty()) return {};
  MIRAGE_TRY(const Compiler compiler, compiler_of(options));
  const fs::path cache = cache_directory(options.cache_dir);
  MIRAGE_TRY(const Headers headers, device_folder(cache));
  const fs::path prelude = prelude_file(unit, headers, compiler, cache);
  const fs::path precompiled = precompiled_file(prelude);
  std::error_code error;
  if (fs::exists(precompiled, error)) return {};
  if (!fs::exists(prelude, error)) MIRAGE_TRY_VOID(publish(prelude, unit.prelude));
  MIRAGE_TRY(const DraftFolder drafts, DraftFolder::make(cache));
  const fs::path draft = drafts.path() / precompiled.filename();
  std::vector<std::string> command = compiler.command;
  for (const std::string& word : common_words(unit, headers)) command.push_back(word);
  if (compiler.version.find("clang") != std::string::npos)
    command.emplace_back("-fpch-instantiate-templates");
  for (const std::string& word : {std::string("-x"), std::string("c++-header"), std::string("-o"),
                                  draft.string(), prelude.string()})
    command.push_back(word);
  MIRAGE_TRY(const ProcessResult built,
             run_process(command, options.time_limit, options.deadline, drafts.path().string()));
  if (built.status != 0)
    return tl::unexpected(Error{
        Code::CompileFailed,
        fmt::format("{} makes no precompiled header (status {})", compiler.name(), built.status),
        {built.output}});
  return move_file(draft, precompiled);
}

}  // namespace mirage::runtime
