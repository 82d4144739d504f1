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

/// Compiles the unit to the shared object `object`, by way of the folder `drafts`.
Result<void> build_object(const codegen::SourceUnit& unit, const CompileOptions& options,
                          const Compiler& compiler, const Headers& headers, const fs::path& drafts,
                          const fs::path& object) {
  const fs::path source = drafts / (object.stem().string() + ".cc");
  const fs::path draft = drafts / object.filename();
  MIRAGE_TRY_VOID(write_file(source, unit.text));
  std::error_code error;
  const fs::path prelude =
      prelude_file(unit, headers, compiler, cache_directory(options.cache_dir));
  const bool has_help = !unit.prelude.empty() && fs::exists(precompiled_file(prelude), error);
  const auto run_compiler = [&](bool with_help) {
    std::vector<std::string> command = compiler.command;
    for (const std::string& word : common_words(unit, headers)) command.push_back(word);
    if (with_help) command.insert(command.end(), {"-include", prelude.string()});
    for (const std::string& word :
         {std::string("-shared"), std::string("-o"), draft.string(), source.string()})
      command.push_back(word);
    return run_process(command, options.time_limit, options.deadline, drafts.string());
  };
  auto built = run_compiler(has_help);
  if (has_help && built && built->status != 0) {
    built = run_compiler(false);  // a precompiled header may be damaged, or a system's header new
    if (built && built->status == 0) fs::remove(precompiled_file(prelude), error);
  }
  if (!built) return tl::unexpected(std::move(built).error());
  if (built->status != 0) {
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
  return move_file(draft, object);
}

/// Once more if somebody removed the cache meanwhile.
Result<void> build_object_twice(const codegen::SourceUnit& unit, const CompileOptions& options,
                                const Compiler& compiler, const Headers& headers,
                                const fs::path& cache, const fs::path& object) {
  std::error_code error;
  {
    MIRAGE_TRY(const DraftFolder drafts, DraftFolder::make(cache));
    Result<void> built = build_object(unit, options, compiler, headers, drafts.path(), object);
    if (built || fs::exists(drafts.path(), error)) return built;
  }
  MIRAGE_TRY_VOID(device_folder(cache));
  MIRAGE_TRY(const DraftFolder drafts, DraftFolder::make(cache));
  return build_object(unit, options, compiler, headers, drafts.path(), object);
}

}  // namespace

Result<std::string> shared_object_of(const codegen::SourceUnit& unit,
                                     const CompileOptions& options) {
  MIRAGE_TRY(const Compiler compiler, compiler_of(options));
  const fs::path cache = cache_directory(options.cache_dir);
  MIRAGE_TRY(const Headers headers, device_folder(cache));
  Hasher hasher;
  hasher.add(unit.text)
      .add(unit.march)
      .add(headers.hash)
      .add(compiler.name())
      .add(compiler.version);
  for (const std::string& option : unit.options) hasher.add(option);
  const std::string key = to_hex(hasher.finish());
  const fs::path object = cache / "objects" / key.substr(0, 2) / (key + ".so");
  if (!options.use_cache || !is_intact(object))
    MIRAGE_TRY_VOID(build_object_twice(unit, options, compiler, headers, cache, object));
  return object.string();
}

Result<std::shared_ptr<const Executable>> compile(const codegen::SourceUnit& unit,
                                                  const CompileOptions& options) {
  if (unit.language != codegen::Language::Cpp)
    return unsupported("target {}: not C++", unit.target);
  MIRAGE_TRY_VOID(check_processor(unit));
  auto pool = options.pool ? options.pool : std::make_shared<ThreadPool>();
  MIRAGE_TRY(std::string object, shared_object_of(unit, options));
  auto loaded = load_shared_object(object, unit, pool);
  if (loaded || !options.use_cache) return loaded;
  CompileOptions anew = options;  // what was kept is damaged
  anew.use_cache = false;
  MIRAGE_TRY(object, shared_object_of(unit, anew));
  return load_shared_object(object, unit, pool);
}

}  // namespace mirage::runtime
