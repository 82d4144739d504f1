#pragma once
// Indented program text over {fmt}.

#include <fmt/format.h>

#include <string>

namespace mirage::codegen {

class Writer {
 public:
  /// `width`: columns of a level.
  explicit Writer(size_t width = 2) : width_(width) {}

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    raw(fmt::format(format, std::forward<Args>(args)...));
  }
  /// A line of text as it is.
  void raw(const std::string& text) {
    text_.append(width_ * depth_, ' ');
    text_ += text;
    text_ += '\n';
  }
  void blank() { text_ += '\n'; }
  /// Ends with the brace that close() matches.
  template <class... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    line(format, std::forward<Args>(args)...);
    ++depth_;
  }
  void close(const char* end = "}") {
    --depth_;
    raw(end);
  }
  void indent() { ++depth_; }
  void outdent() { --depth_; }
  std::string take() { return std::move(text_); }

 private:
  size_t width_;
  std::string text_;
  size_t depth_ = 0;
};

}  // namespace mirage::codegen
