#include "ir/text_lex.h"

#include <fmt/format.h>

namespace mirage::ir {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_char(char c) { return is_letter(c) || is_digit(c); }
bool is_name_char(char c) { return is_word_char(c) || c == '.'; }

}  // namespace

bool is_identifier(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return false;
  for (char c : text)
    if (!is_name_char(c)) return false;
  return true;
}

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skip_space();
  Token token;
  token.line = line_;
  token.column = static_cast<int>(at_ - line_start_) + 1;
  if (at_ >= text_.size()) return token;
  const size_t start = at_;
  const auto peek = [&](size_t offset) {
    return start + offset < text_.size() ? text_[start + offset] : '\0';
  };
  const auto take_while = [&](auto belongs) {
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
  };
  const char c = text_[at_++];
  if (is_letter(c)) {
    token.kind = TokenKind::Word;
    take_while(is_word_char);
  } else if (c == '%' || c == '@') {
    token.kind = c == '%' ? TokenKind::Value : TokenKind::Symbol;
    take_while(is_name_char);
  } else if (is_digit(c) || ((c == '-' || c == '+') && is_name_char(peek(1)))) {
    // An exponent's sign belongs to the number: e for decimal, p for hexadecimal.
    token.kind = TokenKind::Number;
    const size_t digits = is_digit(c) ? start : start + 1;
    const bool is_hex = text_.substr(digits, 2) == "0x" || text_.substr(digits, 2) == "0X";
    take_while([&](char d) {
      if (is_name_char(d)) return true;
      const char before = text_[at_ - 1];
      return (d == '-' || d == '+') &&
             (is_hex ? before == 'p' || before == 'P' : (before == 'e' || before == 'E'));
    });
  } else if (c == '-' && peek(1) == '>') {
    token.kind = TokenKind::Punct;
    ++at_;
  } else {
    constexpr std::string_view kPuncts = "(){}[],:=/.";
    token.kind = kPuncts.find(c) != std::string_view::npos ? TokenKind::Punct : TokenKind::Bad;
  }
  token.text = text_.substr(start, at_ - start);
  return token;
}

std::string describe(const Token& token) {
  if (token.kind == TokenKind::End) return "the end of the text";
  constexpr size_t kShown = 40;
  if (token.kind == TokenKind::Bad && static_cast<unsigned char>(token.text[0]) - 0x20u >= 0x5f)
    return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(token.text[0]));
  if (token.text.size() > kShown) return fmt::format("'{}...'", token.text.substr(0, kShown));
  return fmt::format("'{}'", token.text);
}

}  // namespace mirage::ir
