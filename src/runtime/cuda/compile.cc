#include "runtime/cuda/compile.h"

#include <filesystem>
#include <fstream>

#include "device_headers.h"
#include "runtime/cpu/cache_folder.h"
#include "runtime/cuda/nvrtc.h"
#include "util/hash.h"

namespace mirage::runtime {

namespace fs = std::filesystem;

Result<std::string> cubin_of(const codegen::SourceUnit& unit, const CompileOptions& options) {
  if (unit.language != codegen::Language::Cuda)
    return unsupported("target {}: not CUDA", unit.target);
  MIRAGE_TRY(const std::string version, nvrtc_version());
  Hasher hasher;
  hasher.add(unit.text).add(device_headers_hash()).add(version);
  for (const std::string& option : unit.options) hasher.add(option);
  const std::string key = to_hex(hasher.finish());
  const fs::path path =
      fs::path(cache_directory(options.cache_dir)) / "objects" / key.substr(0, 2) / (key + ".cubin");
  if (options.use_cache) {
    std::ifstream file(path, std::ios::binary);
    if (file) return std::string(std::istreambuf_iterator<char>(file), {});
  }
  MIRAGE_TRY(std::string cubin, compile_cubin(unit.text, unit.options));
  MIRAGE_TRY_VOID(publish(path, cubin));
  return cubin;
}

}  // namespace mirage::runtime
