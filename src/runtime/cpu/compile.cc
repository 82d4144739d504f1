#include "runtime/cpu/compile.h"

#include <system_error>

#include "runtime/cache_folder.h"
#include "runtime/cpu/find_compiler.h"
#include "runtime/cpu/precompiled.h"
#include "runtime/cpu/shared_object.h"
#include "runtime/process.h"
#include "util/hash.h"

namespace mirage::runtime {
namespace {

namespace fs = std::filesystem;

Result<void> check_processor(const codegen::SourceUnit& unit) {
  bool runs = true;
#if defined(__x86_64__)
  if (unit.march == "x86-64-v4") runs = __builtin_cpu_supports("avx512vl") != 0;
  if (unit.march == "x86-64-v3") runs = __builtin_cpu_supports("avx2") != 0;
#else
  runs = unit.march.empty();
#endif
  if (!runs) return unsupported("target {}: this processor lacks {}", unit.target, unit.march);
  return {};
}

}  // namespace

Result<std::shared_ptr<const Executable>> compile(const codegen::SourceUnit& unit,
                                                  const CompileOptions& options) {
  if (unit.language != codegen::Language::Cpp)
    return unsupported("target {}: not C++", unit.target);
  MIRAGE_TRY_VOID(check_processor(unit));
  MIRAGE_TRY(const Compiler compiler, compiler_of(options));
  const fs::path cache = cache_directory(options.cache_dir);
  MIRAGE_TRY(const Headers headers, device_folder(cache));
  auto pool = options.pool ? options.pool : std::make_shared<ThreadPool>();

  Hasher hasher;
  hasher.add(unit.text)
      .add(unit.march)
      .add(headers.hash)
      .add(compiler.name())
      .add(compiler.version);
  for (const std::string& option : unit.options) hasher.add(option);
  const std::string key = to_hex(hasher.finish());
  const fs::path folder = cache / "objects" / key.substr(0, 2);
  const fs::path object = folder / (key + ".so");
  std::error_code error;
  if (options.use_cache && is_intact(object)) {
    auto loaded = load_shared_object(object.string(), unit, pool);
    if (loaded) return loaded;  // else it is damaged: build it again
  }

  const std::string suffix = unique_suffix();
  const fs::path source = folder / (key + suffix + ".cc");
  const fs::path draft = folder / (key + suffix + ".so");
  MIRAGE_TRY_VOID(write_file(source, unit.text));
  const fs::path prelude = prelude_file(unit, headers, compiler, cache);
  const bool has_help = !unit.prelude.empty() && fs::exists(precompiled_file(prelude), error);
  const auto run_compiler = [&](bool with_help) {
    std::vector<std::string> command = compiler.command;
    for (const std::string& word : common_words(unit, headers)) command.push_back(word);
    if (with_help) command.insert(command.end(), {"-include", prelude.string()});
    for (const std::string& word :
         {std::string("-shared"), std::string("-o"), draft.string(), source.string()})
      command.push_back(word);
    return run_process(command, options.time_limit, options.deadline);
  };
  auto built = run_compiler(has_help);
  if (has_help && built && built->status != 0) {
    built = run_compiler(false);  // a precompiled header may be damaged, or a system's header new
    if (built && built->status == 0) fs::remove(precompiled_file(prelude), error);
  }
  fs::remove(source, error);
  if (!built) {
    fs::remove(draft, error);
    return tl::unexpected(std::move(built).error());
  }
  if (built->status != 0) {
    fs::remove(draft, error);
    MIRAGE_TRY_VOID(check_that_it_works(compiler, unit.options));
    Error failure{
        Code::CompileFailed,
        fmt::format("{} refused generated code (status {})", compiler.name(), built->status),
        {built->output}};
    return tl::unexpected(std::move(failure));
  }
  if (!fs::exists(draft, error))
    return unsupported("compiler {} does not work: it made no file", compiler.name());
  MIRAGE_TRY_VOID(seal(draft));
  fs::rename(draft, object, error);
  if (error) {
    const std::string reason = error.message();
    fs::remove(draft, error);
    return fail(Code::Io, "cannot rename to {}: {}", object.string(), reason);
  }
  return load_shared_object(object.string(), unit, pool);
}

}  // namespace mirage::runtime
