#include "runtime/cuda/compile.h"

#include <cstring>
#include <filesystem>

#include "device_headers.h"
#include "runtime/cache_folder.h"
#include "runtime/contain.h"
#include "runtime/cuda/nvrtc.h"
#include "util/hash.h"

namespace mirage::runtime {

namespace fs = std::filesystem;

namespace {

constexpr size_t kLogBytes = 1 << 16;

/// The compiler works on one program at a time in a process, may crash, and once it has run a
/// process cannot fork children that use the GPU: so each run has a process of its own, and what it
/// makes comes back as a file.
Result<void> compile_in_child(const codegen::SourceUnit& unit, const fs::path& path,
                              const CompileOptions& options) {
  MIRAGE_TRY(const SharedMemory log, SharedMemory::make(kLogBytes));
  auto* const text = reinterpret_cast<char*>(log.data());
  Result<void> done = contain(
      options.time_limit,
      [&]() -> Result<void> {
        const auto cubin = compile_cubin(unit.text, unit.options);
        if (cubin) return publish_sealed(path, *cubin);
        if (!cubin.error().notes.empty())
          std::strncpy(text, cubin.error().notes[0].c_str(), kLogBytes - 1);
        return tl::unexpected(cubin.error());
      },
      options.deadline);
  if (!done && text[0] != '\0') done.error().notes.emplace_back(text);
  return done;
}

}  // namespace

Result<fs::path> cubin_file(const codegen::SourceUnit& unit, const CompileOptions& options) {
  MIRAGE_TRY(const std::string version, nvrtc_version());
  Hasher hasher;
  hasher.add(unit.text).add(device_headers_hash()).add(version);
  for (const std::string& option : unit.options) hasher.add(option);
  const std::string key = to_hex(hasher.finish());
  return fs::path(cache_directory(options.cache_dir)) / "objects" / key.substr(0, 2) /
         (key + ".cubin");
}

Result<std::string> cubin_of(const codegen::SourceUnit& unit, const CompileOptions& options) {
  if (unit.language != codegen::Language::Cuda)
    return unsupported("target {}: not CUDA", unit.target);
  MIRAGE_TRY(const fs::path path, cubin_file(unit, options));
  if (options.use_cache)
    if (auto kept = read_sealed(path)) return std::move(*kept);
  MIRAGE_TRY_VOID(compile_in_child(unit, path, options));
  auto made = read_sealed(path);
  if (!made) return fail(Code::Io, "cannot read {}", path.string());
  return std::move(*made);
}

}  // namespace mirage::runtime
