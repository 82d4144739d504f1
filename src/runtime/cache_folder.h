#pragma once
// The folder of compiled code, and the headers that are unpacked there for the compiler.
// Files appear under their names by rename, so that concurrent processes and killed ones leave it
// usable.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/result.h"

namespace mirage::runtime {

/// The value, or nothing.
std::string environment(const char* name);

/// The folder that compile() would use.
std::string cache_directory(const std::string& wanted = {});

/// A name's end that no other process or thread uses.
std::string unique_suffix();

/// Makes the folders on the way too.
Result<void> write_file(const std::filesystem::path& path, std::string_view text);
/// Nothing if it cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path);

/// Adds a hash of what the file holds to its end; loaders of shared objects do not look there. A
/// damaged object must be known before it is loaded: the loader itself crashes on one that is cut
/// short, as a full disk or a power failure leaves it.
Result<void> seal(const std::filesystem::path& path);
bool is_intact(const std::filesystem::path& path);

/// Writes beside the place and renames.
Result<void> publish(const std::filesystem::path& path, std::string_view text);

/// The same with a seal, for what is read back whole.
Result<void> publish_sealed(const std::filesystem::path& path, std::string_view text);
/// Without its seal; nothing if the file is missing or damaged.
std::optional<std::string> read_sealed(const std::filesystem::path& path);

/// A folder in the cache for what one run of a compiler makes, its temporary files included. It
/// goes with all that is left in it: a compiler that is stopped leaves nothing.
class DraftFolder {
 public:
  static Result<DraftFolder> make(const std::filesystem::path& cache);
  DraftFolder(DraftFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  DraftFolder& operator=(DraftFolder&&) = delete;
  ~DraftFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit DraftFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

/// Where the folders of DraftFolder are; those of killed processes stay.
std::filesystem::path drafts_folder(const std::filesystem::path& cache);

/// All regular files below a folder, as far as it can be read; others may change it meanwhile.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);

/// Moves a finished file to its place, making the folders on the way.
Result<void> move_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// The include folder with the headers of this program, and what stands for them in keys.
struct Headers {
  std::filesystem::path folder;
  std::string hash;
};
Result<Headers> device_folder(const std::filesystem::path& cache);

}  // namespace mirage::runtime
