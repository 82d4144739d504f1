#pragma once
// Tokens of the text format. Used by the parser; is_identifier also by the printer.

#include <cstdint>
#include <string>
#include <string_view>

namespace mirage::ir {

enum class TokenKind : uint8_t {
  Word,    // an operator, keyword, axis or attribute
  Value,   // %name
  Symbol,  // @name
  Number,  // with its sign
  Punct,   // ( ) { } [ ] , : = / . ->
  Bad,     // a character that starts no token
  End,
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;  // with % or @
  int line = 1;
  int column = 1;

  bool is(std::string_view punct) const { return kind == TokenKind::Punct && text == punct; }
  bool is_word(std::string_view word) const { return kind == TokenKind::Word && text == word; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();

 private:
  void skip_space();

  std::string_view text_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  int line_ = 1;
};

/// A letter or _, then letters, digits, _ and dots.
bool is_identifier(std::string_view text);

/// How a message names what it found: `'x'`, or `the end of the text`. Long texts are cut.
std::string describe(const Token& token);

}  // namespace mirage::ir
