#include "runtime/cpu/find_compiler.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <system_error>

#include "runtime/cache_folder.h"
#include "runtime/process.h"

namespace mirage::runtime {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kAnswerLimit(2);
constexpr std::chrono::seconds kNothingLimit(20);  // to compile a file of nothing

std::string first_line(std::string_view output) {
  const size_t start = std::min(output.find_first_not_of("\r\n \t"), output.size());
  return std::string(output.substr(start, output.find('\n', start) - start));
}

/// ": LINE", or nothing.
std::string what_it_says(const ProcessResult& result) {
  const std::string line = first_line(result.output);
  return line.empty() ? "" : ": " + line;
}

/// A file of this name, blanks and all, else words.
Result<std::vector<std::string>> command_of(const std::string& name) {
  std::error_code error;
  if (fs::is_regular_file(name, error)) return std::vector<std::string>{name};
  return split_words(name);
}

Result<Compiler> ask(const std::string& name) {
  auto words = command_of(name);
  if (!words || words->empty())
    return unsupported("compiler {}: {}", name, words ? "no words" : words.error().message);
  std::vector<std::string> command = *words;
  command.emplace_back("--version");
  const Result<ProcessResult> answer = run_process(command, kAnswerLimit);
  if (!answer && answer.error().code == Code::Timeout)
    return unsupported("compiler {}: no answer to --version within {} s", name,
                       kAnswerLimit.count());
  if (!answer) return unsupported("compiler {}: {}", name, answer.error().message);
  if (answer->status != 0)
    return unsupported("compiler {}: --version has status {}{}", name, answer->status,
                       what_it_says(*answer));
  return Compiler{std::move(*words), answer->output.substr(0, answer->output.find('\n'))};
}

}  // namespace

std::string Compiler::name() const { return fmt::format("{}", fmt::join(command, " ")); }

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool is_in_word = false;
  char quote = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote == '\0' && (c == ' ' || c == '\t' || c == '\n')) {
      is_in_word = false;
      continue;
    }
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else {
      // Between double quotes only what means something there can be escaped.
      const bool escapes = c == '\\' && quote != '\'' && i + 1 < text.size() &&
                           (quote == '\0' || text[i + 1] == '"' || text[i + 1] == '\\');
      if (escapes) c = text[++i];
      words.back() += c;
    }
  }
  if (quote != '\0') return bad_input("a quote {} without its end", quote);
  return words;
}

Result<Compiler> find_compiler(const std::string& wanted) {
  const std::string cxx = environment("CXX");
  if (!wanted.empty()) return ask(wanted);
  if (!cxx.empty()) return ask(cxx);
  std::string reasons;
  for (const char* name : {"clang++", "c++", "g++"}) {  // equal code, clang is twice as quick
    Result<Compiler> found = ask(name);
    if (found) return found;
    reasons += (reasons.empty() ? "" : "; ") + found.error().message;
  }
  return unsupported("no C++ compiler (set CXX): {}", reasons);
}

Result<Compiler> compiler_of(const CompileOptions& options) {
  if (options.found) return *options.found;
  return find_compiler(options.compiler);
}

Result<void> check_that_it_works(const Compiler& compiler,
                                 const std::vector<std::string>& options) {
  std::vector<std::string> command = compiler.command;
  command.insert(command.end(), options.begin(), options.end());
  for (const char* word : {"-x", "c++", "-c", "-o", "/dev/null", "/dev/null"})
    command.emplace_back(word);
  const Result<ProcessResult> built = run_process(command, kNothingLimit);
  if (!built)
    return unsupported("compiler {} does not work: {}", compiler.name(), built.error().message);
  if (built->status != 0)
    return unsupported("compiler {} does not work: status {} for a file of nothing{}",
                       compiler.name(), built->status, what_it_says(*built));
  return {};
}

}  // namespace mirage::runtime
