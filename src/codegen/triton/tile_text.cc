#include "codegen/triton/tile_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace mirage::codegen::triton {

std::string expanded(const std::string& text, const std::vector<bool>& has,
                     const std::vector<bool>& want) {
  std::vector<std::string_view> words;
  for (size_t i = 0; i < want.size(); ++i)
    if (want[i]) words.emplace_back(has[i] ? ":" : "None");
  const bool is_scalar = std::find(has.begin(), has.end(), true) == has.end();
  const bool is_same = std::find(words.begin(), words.end(), "None") == words.end();
  if (is_scalar || is_same) return text;
  return fmt::format("{}[{}]", text, fmt::join(words, ", "));
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string conjunction(const std::vector<std::string>& conditions) {
  if (conditions.size() == 1) return conditions[0];
  std::string text;
  for (const std::string& condition : conditions)
    text += fmt::format("{}({})", text.empty() ? "" : " & ", condition);
  return text;
}

}  // namespace mirage::codegen::triton
