#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/text.h"
#include "ir/text_lex.h"

namespace mirage::ir {
namespace {

// Operators inside operators, on one line of text; deeper ones need names.
constexpr int kMaxNesting = 64;

struct Named {
  ValueId id;
  int line;
};
using Scope = std::unordered_map<std::string_view, Named>;  // names with %

struct ReturnType {
  TensorType type;
  Strides strides;
  Token at;
};

/// Recursive descent with one token of lookahead; the only recursion is the nesting of operators.
class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text), token_(lexer_.next()) {}

  Result<std::vector<GraphPtr>> file() {
    std::vector<GraphPtr> graphs;
    while (token_.kind != TokenKind::End) {
      MIRAGE_TRY(GraphPtr graph, top_level());
      graphs.push_back(std::move(graph));
    }
    if (graphs.empty()) return expected("kernel @name(...) {...}");
    return graphs;
  }

 private:
  // Tokens ---------------------------------------------------------------------------------------
  Token take() {
    const Token token = token_;
    token_ = lexer_.next();
    return token;
  }
  bool accept(std::string_view punct) {
    if (!token_.is(punct)) return false;
    take();
    return true;
  }
  template <class... Args>
  static tl::unexpected<Error> fail_at(const Token& at, fmt::format_string<Args...> format,
                                       Args&&... args) {
    return bad_input("{}:{}: {}", at.line, at.column,
                     fmt::format(format, std::forward<Args>(args)...));
  }
  tl::unexpected<Error> expected(std::string_view what) const {
    return fail_at(token_, "expected {}, found {}", what, describe(token_));
  }
  Result<void> expect(std::string_view punct) {
    if (!accept(punct)) return expected(fmt::format("'{}'", punct));
    return {};
  }

  // Small things ---------------------------------------------------------------------------------
  Result<int64_t> integer() {
    int64_t value = 0;
    std::string_view text = token_.text;
    if (token_.kind != TokenKind::Number) return expected("an integer");
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc::result_out_of_range)
      return fail_at(token_, "{} does not fit into 64 bits", describe(token_));
    if (code != std::errc{} || end != text.data() + text.size()) return expected("an integer");
    take();
    return value;
  }

  bool at_number() const {
    return token_.kind == TokenKind::Number || token_.is_word("inf") || token_.is_word("nan");
  }

  Result<double> number() {
    if (!at_number()) return expected("a number");
    std::string_view text = token_.text;
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) text.remove_prefix(1);
    double value = 0;
    if (text == "nan") return fail_at(token_, "a scalar must not be NaN");
    if (text == "inf") {
      value = std::numeric_limits<double>::infinity();
    } else {
      const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
      const char* first = text.data() + (is_hex ? 2 : 0);
      const char* last = text.data() + text.size();
      if (first == last || *first < '0' || *first > 'f') return expected("a number");
      const auto [end, code] = std::from_chars(
          first, last, value, is_hex ? std::chars_format::hex : std::chars_format::general);
      if (code == std::errc::result_out_of_range)
        return fail_at(token_, "{} is outside the range of a 64-bit float", describe(token_));
      if (code != std::errc{} || end != last) return expected("a number");
    }
    take();
    return is_negative ? -value : value;
  }

  /// [1,2,3] or (1,2,3)
  Result<std::vector<int64_t>> integers(std::string_view open, std::string_view close) {
    std::vector<int64_t> values;
    MIRAGE_TRY_VOID(expect(open));
    while (!accept(close)) {
      if (!values.empty()) MIRAGE_TRY_VOID(expect(","));
      if (values.size() == kMaxRank)
        return fail_at(token_, "more than {} entries in a list", kMaxRank);
      MIRAGE_TRY(const int64_t value, integer());
      values.push_back(value);
    }
    return values;
  }

  Result<TensorType> type() {
    if (token_.kind != TokenKind::Word) return expected("an element type");
    const auto dtype = dtype_named(token_.text);
    if (!dtype) return fail_at(token_, "unknown element type {}", describe(token_));
    take();
    MIRAGE_TRY(Shape shape, integers("[", "]"));
    return TensorType{*dtype, std::move(shape)};
  }

  Result<Strides> optional_strides() {
    if (!token_.is_word("strides")) return Strides{};
    take();
    return integers("(", ")");
  }

  Result<Token> value_name() {
    if (token_.kind != TokenKind::Value) return expected("a value such as %x");
    if (token_.text.size() == 1) return fail_at(token_, "'%' without a name");
    return take();
  }

  static std::string plain_name(const Token& value) {
    const std::string_view name = value.text.substr(1);
    return is_identifier(name) ? std::string(name) : std::string();  // %7 is a number, not a name
  }

  static Result<void> define(Scope& scope, const Token& name, ValueId id) {
    const auto [at, is_new] = scope.try_emplace(name.text, Named{id, name.line});
    if (!is_new)
      return fail_at(name, "{} is defined twice, first on line {}", name.text, at->second.line);
    return {};
  }

  /// Moves an error of the builder to a place in the text.
  static tl::unexpected<Error> moved(Error error, const Token& at) {
    error.message = fmt::format("{}:{}: {}", at.line, at.column, error.message);
    return tl::unexpected(std::move(error));
  }

  // Graphs ---------------------------------------------------------------------------------------
  Result<GraphPtr> top_level() {
    const Token keyword = token_;
    const bool is_block = token_.is_word("block");
    if (!is_block && !token_.is_word("kernel") && !token_.is_word("thread"))
      return expected("kernel @name(...) {...}");
    take();
    std::string name;
    if (token_.kind == TokenKind::Symbol) {
      name = token_.text.substr(1);
      if (!is_identifier(name)) return expected("a name such as @attention");
      take();
    }
    struct Parameter {
      Token name;
      TensorType type;
      Strides strides;
    };
    std::vector<Parameter> parameters;
    MIRAGE_TRY_VOID(expect("("));
    while (!accept(")")) {
      if (!parameters.empty()) MIRAGE_TRY_VOID(expect(","));
      MIRAGE_TRY(const Token parameter, value_name());
      MIRAGE_TRY_VOID(expect(":"));
      MIRAGE_TRY(TensorType parameter_type, type());
      MIRAGE_TRY(Strides strides, optional_strides());
      parameters.push_back({parameter, std::move(parameter_type), std::move(strides)});
    }
    Launch launch;
    if (is_block) MIRAGE_TRY_VOID(parse_launch(launch));
    auto builder = is_block
                       ? GraphBuilder::block(std::move(launch))
                       : Result<GraphBuilder>(keyword.is_word("thread") ? GraphBuilder::thread()
                                                                        : GraphBuilder());
    if (!builder) return moved(std::move(builder).error(), keyword);
    builder->set_name(std::move(name));
    Scope scope;
    for (Parameter& parameter : parameters) {
      auto id = builder->input(std::move(parameter.type), plain_name(parameter.name),
                               std::move(parameter.strides));
      if (!id) return moved(std::move(id).error(), parameter.name);
      MIRAGE_TRY_VOID(define(scope, parameter.name, *id));
    }
    return graph_rest(*builder, scope, keyword);
  }

  /// `-> types { statements }` of a kernel or thread graph, `{ statements }` of a block.
  Result<GraphPtr> graph_rest(GraphBuilder& builder, Scope& scope, const Token& start) {
    std::vector<ReturnType> types;
    if (builder.draft().level != Level::Block && accept("->")) {
      do {
        ReturnType result;
        result.at = token_;
        MIRAGE_TRY(result.type, type());
        MIRAGE_TRY(result.strides, optional_strides());
        types.push_back(std::move(result));
      } while (accept(","));
    }
    MIRAGE_TRY(const std::vector<ValueId> outputs, statements(builder, scope));
    if (!outputs.empty() && !types.empty() && outputs.size() != types.size())
      return fail_at(types[0].at, "{} result types, but {} values are returned", types.size(),
                     outputs.size());
    std::vector<Strides> strides;
    strides.reserve(types.size());
    for (ReturnType& result : types) strides.push_back(std::move(result.strides));
    auto graph = builder.finish(outputs, strides);
    if (!graph) return moved(std::move(graph).error(), start);
    MIRAGE_TRY_VOID(check_results(**graph, types));
    return std::move(*graph);
  }

  static Result<void> check_results(const Graph& graph, const std::vector<ReturnType>& types) {
    if (!types.empty() && graph.outputs.size() != types.size())
      return fail_at(types[0].at, "{} result types, but {} values are not read by others",
                     types.size(), graph.outputs.size());
    for (size_t i = 0; i < types.size(); ++i) {
      const TensorType& actual = graph.type(graph.outputs[i]);
      if (actual != types[i].type)
        return fail_at(types[i].at, "result {}: expected {} as declared, found {}", i,
                       to_string(types[i].type), to_string(actual));
    }
    return {};
  }

  /// axes(n: grid 96, k: loop 64) threads(256), both optional.
  Result<void> parse_launch(Launch& launch) {
    if (token_.is_word("axes")) {
      take();
      MIRAGE_TRY_VOID(expect("("));
      while (!accept(")")) {
        if (!launch.axes.empty()) MIRAGE_TRY_VOID(expect(","));
        MIRAGE_TRY_VOID(parse_axis(launch));
      }
    }
    if (!token_.is_word("threads")) return {};
    take();
    MIRAGE_TRY_VOID(expect("("));
    const Token at = token_;
    MIRAGE_TRY(launch.threads, integer());
    if (launch.threads < 1)
      return fail_at(at, "expected at least one thread, found {}", launch.threads);
    return expect(")");
  }

  Result<void> parse_axis(Launch& launch) {
    if (token_.kind != TokenKind::Word) return expected("an axis such as n: grid 96");
    const Token name = take();
    for (const Axis& axis : launch.axes)  // at most 16
      if (axis.name == name.text) return fail_at(name, "axis {} is defined twice", name.text);
    if (launch.axes.size() == 16) return fail_at(name, "a block has more than 16 axes");
    MIRAGE_TRY_VOID(expect(":"));
    Axis axis;
    axis.name = name.text;
    bool is_role = false;
    for (Role role : {Role::Grid, Role::Loop, Role::Cluster, Role::Warp})
      if (token_.is_word(name_of(role))) {
        axis.role = role;
        is_role = true;
      }
    if (!is_role) return expected("grid, loop, cluster or warp");
    take();
    MIRAGE_TRY(axis.trips, integer());
    launch.axes.push_back(std::move(axis));
    return {};
  }

  /// { ... }: the values of the return, or none.
  Result<std::vector<ValueId>> statements(GraphBuilder& builder, Scope& scope) {
    MIRAGE_TRY_VOID(expect("{"));
    std::vector<ValueId> outputs;
    while (!accept("}")) {
      if (token_.is_word("return")) {
        if (builder.draft().level == Level::Block)
          return fail_at(token_, "a block has no return: its results are its stores");
        take();
        defined_ = &kNoNames;
        do {
          MIRAGE_TRY(const ValueId output, operand(builder, scope, 0));
          outputs.push_back(output);
        } while (accept(","));
        MIRAGE_TRY_VOID(expect("}"));
        return outputs;
      }
      MIRAGE_TRY_VOID(statement(builder, scope));
    }
    return outputs;
  }

  /// %a, %b = operator ..., or a store.
  Result<void> statement(GraphBuilder& builder, Scope& scope) {
    std::vector<Token> names;
    if (token_.kind == TokenKind::Value) {
      do {
        MIRAGE_TRY(const Token name, value_name());
        names.push_back(name);
      } while (accept(","));
      MIRAGE_TRY_VOID(expect("="));
    } else if (token_.kind == TokenKind::Word && !op_named(token_.text)) {
      return fail_at(token_, "unknown operator {}", describe(token_));
    } else if (token_.kind == TokenKind::Word && !token_.is_word("store")) {
      return fail_at(token_, "the result of {} has no name: expected %name = {} ...",
                     describe(token_), token_.text.substr(0, 40));
    } else if (!token_.is_word("store")) {
      return expected("%name = operator ..., store, return or '}'");
    }
    const Token at = token_;
    defined_ = &names;
    MIRAGE_TRY(const std::vector<ValueId> results, right_side(builder, scope, names));
    if (!names.empty() && results.size() != names.size())
      return fail_at(at, "{}: has {} result{}, but {} name{} given", at.text, results.size(),
                     results.size() == 1 ? "" : "s", names.size(),
                     names.size() == 1 ? " is" : "s are");
    for (size_t i = 0; i < names.size(); ++i) {
      builder.name_value(results[i], plain_name(names[i]));
      MIRAGE_TRY_VOID(define(scope, names[i], results[i]));
    }
    return {};
  }

  Result<std::vector<ValueId>> right_side(GraphBuilder& builder, const Scope& scope,
                                          const std::vector<Token>& names) {
    const std::string_view result = names.empty() ? std::string_view() : names[0].text;
    if (token_.is_word("block")) return block(builder, scope);
    if (accept("(")) {
      MIRAGE_TRY(auto results, operation(builder, scope, 0, result));
      MIRAGE_TRY_VOID(expect(")"));
      return results;
    }
    return operation(builder, scope, 0, result);
  }

  // Operators ------------------------------------------------------------------------------------
  Result<std::vector<ValueId>> block(GraphBuilder& outer, const Scope& outer_scope) {
    const Token at = take();
    if (outer.draft().level != Level::Kernel)
      return fail_at(at, "block: does not exist at {} level", name_of(outer.draft().level));
    std::vector<ValueId> operands;
    std::vector<Token> names;
    MIRAGE_TRY_VOID(expect("("));
    while (!accept(")")) {
      if (!names.empty()) MIRAGE_TRY_VOID(expect(","));
      MIRAGE_TRY(const Token name, value_name());
      Token source = name;
      if (accept("=")) {
        MIRAGE_TRY(source, value_name());
      }
      MIRAGE_TRY(const ValueId operand_id, lookup(outer_scope, source));
      names.push_back(name);
      operands.push_back(operand_id);
    }
    Launch launch;
    MIRAGE_TRY_VOID(parse_launch(launch));
    auto builder = GraphBuilder::block(std::move(launch));
    if (!builder) return moved(std::move(builder).error(), at);
    Scope scope;
    for (size_t i = 0; i < names.size(); ++i) {
      auto id = builder->input(outer.type(operands[i]), plain_name(names[i]));
      if (!id) return moved(std::move(id).error(), names[i]);
      MIRAGE_TRY_VOID(define(scope, names[i], *id));
    }
    outer_ = &outer_scope;
    auto body = graph_rest(*builder, scope, at);
    outer_ = nullptr;
    if (!body) return tl::unexpected(std::move(body).error());
    auto results = outer.add_block(std::move(*body), operands);
    if (!results) return moved(std::move(results).error(), at);
    return results;
  }

  Result<ValueId> lookup(const Scope& scope, const Token& name) {
    if (const auto at = scope.find(name.text); at != scope.end()) return at->second.id;
    for (const Token& defined : *defined_)
      if (defined.text == name.text) return fail_at(name, "{} is used to define itself", name.text);
    if (outer_ && outer_->contains(name.text))
      return fail_at(name, "{} is a value of the kernel, not an operand of this block", name.text);
    // Is it defined below? Then the text is cyclic, or only in the wrong order.
    Lexer rest = lexer_;
    for (Token before = token_, token; before.kind != TokenKind::End; before = token) {
      token = rest.next();
      if (before.text == name.text && (token.is("=") || token.is(",")))
        return fail_at(name,
                       "{} is used before line {} defines it (a program without cycles can be "
                       "written in order)",
                       name.text, before.line);
    }
    return fail_at(name, "{} is not defined", name.text);
  }

  /// %x, a number, an operator in parentheses, or a unary operator without them.
  Result<ValueId> operand(GraphBuilder& builder, const Scope& scope, int depth) {
    if (depth > kMaxNesting)
      return fail_at(token_, "operators are nested more than {} deep: name the inner ones",
                     kMaxNesting);
    if (token_.kind == TokenKind::Value) {
      MIRAGE_TRY(const Token name, value_name());
      return lookup(scope, name);
    }
    const Token at = token_;
    if (at_number()) {
      MIRAGE_TRY(const double value, number());
      auto id = builder.constant(value);
      if (!id) return moved(std::move(id).error(), at);
      return *id;
    }
    if (accept("(")) {
      const bool is_operator = token_.kind == TokenKind::Word && !at_number();
      Result<ValueId> inner =
          is_operator ? single(builder, scope, depth + 1) : operand(builder, scope, depth + 1);
      if (!inner) return inner;
      MIRAGE_TRY_VOID(expect(")"));
      return inner;
    }
    if (token_.kind != TokenKind::Word) return expected("an operand (%name, number or operator)");
    const auto kind = op_named(token_.text);
    if (kind && def(*kind).arity != 1)
      return fail_at(token_, "put {} in parentheses to use it as an operand", describe(token_));
    return single(builder, scope, depth + 1);
  }

  /// An operator used as an operand: it must have one result.
  Result<ValueId> single(GraphBuilder& builder, const Scope& scope, int depth) {
    const Token at = token_;
    if (at.is_word("block")) return fail_at(at, "a block must be given a name before it is used");
    MIRAGE_TRY(const auto results, operation(builder, scope, depth, {}));
    if (results.size() != 1)
      return fail_at(at, "{}: has {} results; name them before use", at.text, results.size());
    return results[0];
  }

  Result<std::vector<ValueId>> operation(GraphBuilder& builder, const Scope& scope, int depth,
                                         std::string_view result) {
    const Token at = token_;
    if (at.kind != TokenKind::Word) return expected("an operator");
    const auto kind = op_named(at.text);
    if (!kind || *kind == OpKind::Block) return fail_at(at, "unknown operator {}", describe(at));
    take();
    const OpDef& row = def(*kind);
    Attrs attrs;
    if (row.has(AttrKey::Combine)) {
      const auto combine = combine_named(token_.text);
      if (token_.kind != TokenKind::Word || !combine || *combine == Combine::None)
        return fail_at(token_, "{}: expected sum, mean or max, found {}", at.text,
                       describe(token_));
      attrs.combine = *combine;
      take();
    }
    if (row.has(AttrKey::Value)) {
      MIRAGE_TRY(const double value, number());
      attrs.scalars = {value};
    }
    std::vector<ValueId> operands;
    if (row.arity != 0) {
      do {
        MIRAGE_TRY(const ValueId id, operand(builder, scope, depth));
        operands.push_back(id);
      } while (accept(","));
    }
    if (row.has(AttrKey::Bind)) {
      MIRAGE_TRY(attrs.bind, bind(builder.draft().launch, at));
    }
    MIRAGE_TRY_VOID(attributes(row, at, attrs));
    const size_t index = builder.draft().values.size();
    auto results = builder.add_all(*kind, operands, std::move(attrs));
    if (!results) return moved(renamed(std::move(results).error(), row, index, result), at);
    return results;
  }

  /// The builder calls the new value by its number; the text has a name for it, or none.
  static Error renamed(Error error, const OpDef& row, size_t index, std::string_view result) {
    const std::string label = fmt::format("{} %{}", row.name, index);
    if (error.message.starts_with(label + ":"))
      error.message = fmt::format("{}{}{}{}", row.name, result.empty() ? "" : " ", result,
                                  error.message.substr(label.size()));
    return error;
  }

  /// [., n/k]: for each axis of the tensor the block axes that split it, major first.
  Result<Bind> bind(const Launch& launch, const Token& at) {
    Bind bind;
    if (!token_.is("["))
      return fail_at(token_, "{}: expected a binding such as [., n], found {}", at.text,
                     describe(token_));
    take();
    while (!accept("]")) {
      if (!bind.empty()) MIRAGE_TRY_VOID(expect(","));
      if (bind.size() == kMaxRank)
        return fail_at(token_, "more than {} entries in a list", kMaxRank);
      bind.emplace_back();
      if (accept(".")) continue;
      do {
        if (token_.kind != TokenKind::Word) return expected("'.' or a block axis");
        const Token name = take();
        size_t axis = 0;
        while (axis < launch.axes.size() && launch.axes[axis].name != name.text) ++axis;
        if (axis == launch.axes.size())
          return fail_at(name, "{}: the block has no axis {}", at.text, describe(name));
        if (bind.back().size() == launch.axes.size())
          return fail_at(name, "{}: block axis {} is bound twice", at.text, name.text);
        bind.back().push_back(static_cast<uint8_t>(axis));
      } while (accept("/"));
    }
    return bind;
  }

  /// axis=1 or axis 1, in any order.
  Result<void> attributes(const OpDef& row, const Token& at, Attrs& attrs) {
    std::vector<AttrKey> given;
    attrs.ints.resize(row.has(AttrKey::Start) ? 2 : 0);
    if (row.has(AttrKey::Lo)) attrs.scalars.resize(2);
    const auto is_given = [&](AttrKey key) {
      return std::find(given.begin(), given.end(), key) != given.end();
    };
    while (token_.kind == TokenKind::Word && !token_.is_word("store") &&
           !token_.is_word("return")) {
      const AttrKey* key = nullptr;
      for (const AttrKey& candidate : row.attrs)
        if (candidate != AttrKey::Bind && candidate != AttrKey::Combine &&
            candidate != AttrKey::Value && token_.is_word(name_of(candidate)))
          key = &candidate;
      if (!key) return fail_at(token_, "{}: has no attribute {}", row.name, describe(token_));
      if (is_given(*key)) return fail_at(token_, "{}: {} is given twice", row.name, token_.text);
      given.push_back(*key);
      take();
      accept("=");
      MIRAGE_TRY_VOID(attribute(*key, attrs));
    }
    for (AttrKey key : row.attrs) {
      const bool is_positional =
          key == AttrKey::Bind || key == AttrKey::Combine || key == AttrKey::Value;
      const bool is_optional = row.kind == OpKind::Store && key == AttrKey::Shape;
      if (!is_positional && !is_optional && !is_given(key))
        return fail_at(at, "{}: expected {}=..., found {}", row.name, name_of(key),
                       describe(token_));
    }
    return {};
  }

  Result<void> attribute(AttrKey key, Attrs& attrs) {
    switch (key) {
      case AttrKey::Axis: {
        MIRAGE_TRY(attrs.axis, integer());
        return {};
      }
      case AttrKey::Start: {
        MIRAGE_TRY(attrs.ints[0], integer());
        return {};
      }
      case AttrKey::Length: {
        MIRAGE_TRY(attrs.ints[1], integer());
        return {};
      }
      case AttrKey::Perm:
      case AttrKey::Shape: {
        MIRAGE_TRY(attrs.ints, integers("[", "]"));
        return {};
      }
      case AttrKey::Lo: {
        MIRAGE_TRY(attrs.scalars[0], number());
        return {};
      }
      case AttrKey::Hi: {
        MIRAGE_TRY(attrs.scalars[1], number());
        return {};
      }
      case AttrKey::Value:
      case AttrKey::Combine:
      case AttrKey::Bind:
        break;  // positional
    }
    return {};
  }

  static inline const std::vector<Token> kNoNames;

  Lexer lexer_;
  Token token_;
  const std::vector<Token>* defined_ = &kNoNames;  // by the statement that is being parsed
  const Scope* outer_ = nullptr;  // while a block body is parsed: the kernel's names
};

}  // namespace

Result<std::vector<GraphPtr>> parse(std::string_view text) { return Parser(text).file(); }

}  // namespace mirage::ir
