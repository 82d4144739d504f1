#include "runtime/cache_folder.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <system_error>
#include <vector>

#include "device_headers.h"
#include "util/hash.h"

namespace mirage::runtime {

namespace fs = std::filesystem;

namespace {

constexpr size_t kSealBytes = 32;  // of to_hex

std::string sealed(std::string_view text) { return std::string(text) + to_hex(hash_bytes(text)); }

}  // namespace

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string cache_directory(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  if (std::string own = environment("MIRAGE_CACHE_DIR"); !own.empty()) return own;
  if (std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/mirage";
  if (std::string home = environment("HOME"); !home.empty()) return home + "/.cache/mirage";
  return (fs::temp_directory_path() / fmt::format("mirage-{}", getuid())).string();
}

std::string unique_suffix() {
  static std::atomic<uint64_t> counter = 0;
  return fmt::format(".{}.{}.tmp", getpid(), counter.fetch_add(1));
}

Result<void> write_file(const fs::path& path, std::string_view text) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error)
    return fail(Code::Io, "cannot make the folder {}: {}", path.parent_path().string(),
                error.message());
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (file) return {};
  const std::string reason = std::strerror(errno);
  fs::remove(path, error);  // half a file only fills the disk
  return fail(Code::Io, "cannot write {}: {}", path.string(), reason);
}

Result<void> publish(const fs::path& path, std::string_view text) {
  const fs::path draft = path.string() + unique_suffix();
  MIRAGE_TRY_VOID(write_file(draft, text));
  return move_file(draft, path);
}

Result<void> move_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  fs::rename(from, to, error);
  if (!error) return {};
  const std::string reason = error.message();
  fs::remove(from, error);
  return fail(Code::Io, "cannot rename to {}: {}", to.string(), reason);
}

Result<DraftFolder> DraftFolder::make(const fs::path& cache) {
  DraftFolder folder(fs::absolute(drafts_folder(cache) / unique_suffix().substr(1)));
  std::error_code error;
  fs::create_directories(folder.path(), error);
  if (!error) return folder;
  return fail(Code::Io, "cannot make the folder {}: {}", folder.path().string(), error.message());
}

DraftFolder::~DraftFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

fs::path drafts_folder(const fs::path& cache) { return cache / "drafts"; }

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error), end;
  while (!error && at != end) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) files.push_back(at->path());
    at.increment(error);
  }
  return files;
}

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (file.bad()) return std::nullopt;
  return text;
}

Result<void> seal(const fs::path& path) {
  const auto text = read_file(path);
  if (!text) return fail(Code::Io, "cannot read {}", path.string());
  return write_file(path, sealed(*text));
}

bool is_intact(const fs::path& path) { return read_sealed(path).has_value(); }

Result<void> publish_sealed(const fs::path& path, std::string_view text) {
  return publish(path, sealed(text));
}

std::optional<std::string> read_sealed(const fs::path& path) {
  std::optional<std::string> text = read_file(path);
  if (!text || text->size() < kSealBytes) return std::nullopt;
  const std::string seal = text->substr(text->size() - kSealBytes);
  text->resize(text->size() - kSealBytes);
  if (seal != to_hex(hash_bytes(*text))) return std::nullopt;
  return text;
}

Result<Headers> device_folder(const fs::path& cache) {
  const std::string own = environment("MIRAGE_DEVICE_DIR");
  if (!own.empty()) {
    // Generated code includes "mirage/...": a link of that name to the folder.
    std::error_code error;
    Hasher hasher;
    hasher.add(own);
    if (!fs::is_directory(own, error))
      return fail(Code::Io, "MIRAGE_DEVICE_DIR={}: {}", own,
                  error ? error.message() : "is no folder");
    std::vector<fs::path> files = files_below(own);
    std::sort(files.begin(), files.end());
    for (const fs::path& path : files) {
      std::ifstream file(path, std::ios::binary);
      hasher.add(std::string(std::istreambuf_iterator<char>(file), {}));
    }
    const std::string hash = to_hex(hasher.finish());
    const fs::path folder = cache / ("device-" + hash);
    fs::create_directories(folder, error);
    if (!fs::exists(folder / "mirage", error))
      fs::create_directory_symlink(fs::absolute(own), folder / "mirage", error);
    return Headers{folder, hash};
  }
  const std::string hash(device_headers_hash());
  const fs::path folder = cache / ("device-" + hash);
  // One thread: a header that is written twice is newer than what was precompiled from it.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  for (const DeviceHeader& header : device_headers()) {
    const fs::path path = folder / header.name;
    if (read_file(path) == header.text) continue;  // else it is missing or damaged
    MIRAGE_TRY_VOID(publish(path, header.text));
  }
  return Headers{folder, hash};
}

}  // namespace mirage::runtime
