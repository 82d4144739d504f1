#include "verify/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace mirage::verify {

std::string_view name_of(Answer answer) {
  constexpr std::array kNames = {"equivalent", "different", "unknown"};
  return kNames[static_cast<size_t>(answer)];
}

std::string_view name_of(Method method) {
  constexpr std::array kNames = {"none", "identical", "normal form", "field", "witness"};
  return kNames[static_cast<size_t>(method)];
}

std::string to_string(const Verdict& verdict) {
  std::string text = fmt::format("{}", name_of(verdict.answer));
  if (verdict.is_equivalent()) {
    text += verdict.all_sizes ? " for all sizes" : " for these sizes";
    text += fmt::format(" ({}", name_of(verdict.method));
    if (verdict.method == Method::Field) {
      text += fmt::format(", {} trial{}", verdict.trials, verdict.trials == 1 ? "" : "s");
      text += verdict.log2_error_bound < 0
                  ? fmt::format(", error at most 2^{:.0f}", verdict.log2_error_bound)
                  : std::string(", no bound");
    }
    if (verdict.real_size_entries > 0)
      text += fmt::format(", {} entries at the real size", verdict.real_size_entries);
    text += ")";
    if (!verdict.uninterpreted.empty())
      text += fmt::format(", uninterpreted: {}", fmt::join(verdict.uninterpreted, ", "));
  } else if (!verdict.reason.empty()) {
    text += ": " + verdict.reason;
  }
  return text;
}

}  // namespace mirage::verify
