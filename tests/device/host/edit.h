#pragma once
// Edits of generated text, and of the device headers as a part of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "device_headers.h"

namespace mirage::host_kit {

/// The file of an edit that is the generated text itself.
inline constexpr std::string_view kText = "text";

/// The text of a device header, by its name without "mirage/".
inline std::string header(std::string_view name) {
  for (const DeviceHeader& known : device_headers())
    if (known.name == name || known.name == "mirage/" + std::string(name))
      return std::string(known.text);
  ADD_FAILURE() << "no header " << name;
  return {};
}

/// A program's text with the headers of device/cuda in the place of their includes: one file, each
/// of whose lines can be changed. `changed` are headers that differ from those that are built in.
class Flat {
 public:
  explicit Flat(std::map<std::string, std::string> changed) : changed_(std::move(changed)) {}

  std::string flatten(const std::string& text) {
    std::string result;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
      const std::string line = text.substr(at, end - at);
      at = end;
      constexpr std::string_view kInclude = "#include \"mirage/";
      if (line.starts_with("#pragma once")) continue;
      if (!line.starts_with(kInclude)) {
        result += line;
        continue;
      }
      const std::string name = line.substr(kInclude.size(), line.rfind('"') - kInclude.size());
      // These two the kit includes as well.
      if (name == "cuda/kit.h" || name == "cuda/types.h") {
        result += line;
      } else if (seen_.insert(name).second) {
        const auto other = changed_.find(name);
        result += flatten(other != changed_.end() ? other->second : header(name));
      }
    }
    return result;
  }

 private:
  std::map<std::string, std::string> changed_;
  std::set<std::string> seen_;
};

/// `text` with `from` replaced, which must be there once.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "nothing to replace: " << from << "\nin\n" << text;
  if (at == std::string::npos) return text;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << "more than once: " << from;
  return text.replace(at, from.size(), to);
}

}  // namespace mirage::host_kit
