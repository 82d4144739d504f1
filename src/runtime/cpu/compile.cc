#include "runtime/cpu/compile.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "device_headers.h"
#include "runtime/cpu/shared_object.h"
#include "runtime/process.h"
#include "util/hash.h"

namespace mirage::runtime {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// A name that no other process or thread uses.
std::string unique_suffix() {
  static std::atomic<uint64_t> counter = 0;
  return fmt::format(".{}.{}.tmp", getpid(), counter.fetch_add(1));
}

Result<void> write_file(const fs::path& path, std::string_view text) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return fail(Code::Io, "cannot write {}", path.string());
  return {};
}

/// Writes beside the place and renames, so that readers see all or nothing.
Result<void> publish(const fs::path& path, std::string_view text) {
  const fs::path draft = path.string() + unique_suffix();
  MIRAGE_TRY_VOID(write_file(draft, text));
  std::error_code error;
  fs::rename(draft, path, error);
  if (error) return fail(Code::Io, "cannot rename to {}: {}", path.string(), error.message());
  return {};
}

/// The include folder with the headers of this program, and what stands for them in keys.
struct Headers {
  fs::path folder;
  std::string hash;
};

Result<Headers> device_folder(const fs::path& cache) {
  const std::string own = environment("MIRAGE_DEVICE_DIR");
  if (!own.empty()) {
    // Generated code includes "mirage/...": a link of that name to the folder.
    std::error_code error;
    Hasher hasher;
    hasher.add(own);
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(own, error))
      if (entry.is_regular_file()) files.push_back(entry.path());
    if (error) return fail(Code::Io, "MIRAGE_DEVICE_DIR={}: {}", own, error.message());
    std::sort(files.begin(), files.end());
    for (const fs::path& path : files) {
      std::ifstream file(path, std::ios::binary);
      hasher.add(std::string(std::istreambuf_iterator<char>(file), {}));
    }
    const std::string hash = to_hex(hasher.finish());
    const fs::path folder = cache / ("device-" + hash);
    fs::create_directories(folder, error);
    if (!fs::exists(folder / "mirage"))
      fs::create_directory_symlink(fs::absolute(own), folder / "mirage", error);
    return Headers{folder, hash};
  }
  const std::string hash(device_headers_hash());
  const fs::path folder = cache / ("device-" + hash);
  for (const DeviceHeader& header : device_headers()) {
    const fs::path path = folder / header.name;
    std::error_code error;
    if (fs::exists(path, error)) continue;
    MIRAGE_TRY_VOID(publish(path, header.text));
  }
  return Headers{folder, hash};
}

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

std::string cache_directory(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  if (std::string own = environment("MIRAGE_CACHE_DIR"); !own.empty()) return own;
  if (std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/mirage";
  if (std::string home = environment("HOME"); !home.empty()) return home + "/.cache/mirage";
  return (fs::temp_directory_path() / fmt::format("mirage-{}", getuid())).string();
}

Result<Compiler> find_compiler(const std::string& wanted) {
  std::vector<std::string> names;
  if (!wanted.empty()) {
    names = {wanted};
  } else if (const std::string cxx = environment("CXX"); !cxx.empty()) {
    names = {cxx};
  } else {
    names = {"clang++", "c++", "g++"};  // equal code, clang is twice as quick
  }
  for (const std::string& name : names) {
    const auto result = run_process({name, "--version"}, std::chrono::seconds(10));
    if (!result || result->status != 0) continue;
    return Compiler{name, result->output.substr(0, result->output.find('\n'))};
  }
  return unsupported("no C++ compiler: {} cannot be run (set CXX)", names[0]);
}

Result<std::shared_ptr<const Executable>> compile(const codegen::SourceUnit& unit,
                                                  const CompileOptions& options) {
  if (unit.language != codegen::Language::Cpp)
    return unsupported("target {}: not C++", unit.target);
  MIRAGE_TRY_VOID(check_processor(unit));
  Compiler compiler;
  if (options.found) {
    compiler = *options.found;
  } else {
    MIRAGE_TRY(compiler, find_compiler(options.compiler));
  }
  const fs::path cache = cache_directory(options.cache_dir);
  MIRAGE_TRY(const Headers headers, device_folder(cache));
  auto pool = options.pool ? options.pool : std::make_shared<ThreadPool>();

  Hasher hasher;
  hasher.add(unit.text).add(unit.march).add(headers.hash).add(compiler.path).add(compiler.version);
  for (const std::string& option : unit.options) hasher.add(option);
  const std::string key = to_hex(hasher.finish());
  const fs::path folder = cache / "objects" / key.substr(0, 2);
  const fs::path object = folder / (key + ".so");
  std::error_code error;
  if (options.use_cache && fs::exists(object, error)) {
    auto loaded = load_shared_object(object.string(), unit, pool);
    if (loaded) return loaded;  // else it is damaged: build it again
  }

  const std::string suffix = unique_suffix();
  const fs::path source = folder / (key + suffix + ".cc");
  const fs::path draft = folder / (key + suffix + ".so");
  MIRAGE_TRY_VOID(write_file(source, unit.text));
  std::vector<std::string> command = {compiler.path};
  command.insert(command.end(), unit.options.begin(), unit.options.end());
  for (const std::string& word :
       {std::string("-fPIC"), std::string("-shared"), "-I" + headers.folder.string(),
        std::string("-w"), std::string("-o"), draft.string(), source.string()})
    command.push_back(word);
  auto built = run_process(command, options.time_limit);
  fs::remove(source, error);
  if (!built) {
    fs::remove(draft, error);
    return tl::unexpected(std::move(built).error());
  }
  if (built->status != 0) {
    fs::remove(draft, error);
    Error failure{
        Code::CompileFailed,
        fmt::format("{} refused generated code (status {})", compiler.path, built->status),
        {built->output}};
    return tl::unexpected(std::move(failure));
  }
  fs::rename(draft, object, error);
  if (error) return fail(Code::Io, "cannot rename to {}: {}", object.string(), error.message());
  return load_shared_object(object.string(), unit, pool);
}

}  // namespace mirage::runtime
