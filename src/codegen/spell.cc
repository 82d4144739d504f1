#include "codegen/spell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "ir/ops/bodies.h"

namespace mirage::codegen {
namespace {

using ir::OpKind;

// How a language writes what the bodies of operators are made of.
struct Words {
  std::string_view constant;      // around a number
  std::string_view functions[4];  // by ir::Fn
  std::string_view maximum, minimum, pow;
  std::string (*number)(double);
};
constexpr Words kCpp{"V({})", {"exp", "log", "sqrt", "erf"}, "maximum", "minimum", "pow", number};
constexpr Words kTriton{
    "{}",         {"tl.exp", "tl.log", "tl.sqrt", "tl.erf"}, "larger", "smaller", "libdevice.pow",
    python_number};

// Arguments of functions are f32 where they are bare numbers.
constexpr Words kTriton64{"tl.full([], {}, tl.float64)",
                          {"tl.exp", "tl.log", "tl.sqrt", "tl.erf"},
                          "larger",
                          "smaller",
                          "libdevice.pow",
                          python_number};

struct Spelling {
  OpKind kind;
  std::string_view cpp, triton;  // empty: by the operator's body
};

// Operators that a language has as a function of its own, more accurate at the edges than the
// operator's body. All others are spelt by their body.
constexpr Spelling kFunctions[] = {
    {OpKind::Exp, "exp", "tl.exp"},
    {OpKind::Log, "log", "tl.log"},
    {OpKind::Sqrt, "sqrt", "tl.sqrt"},
    {OpKind::Rsqrt, "rsqrt", "tl.rsqrt"},
    {OpKind::Sigmoid, "sigmoid", ""},
    {OpKind::Silu, "silu", ""},
    {OpKind::Gelu, "gelu", ""},
    {OpKind::Relu, "relu", ""},
    {OpKind::Tanh, "tanh", "libdevice.tanh"},
    {OpKind::Pow, "pow", "libdevice.pow"},
    {OpKind::Maximum, "maximum", "larger"},
    {OpKind::Minimum, "minimum", "smaller"},
};

/// The domain of program text.
struct Text {
  using Value = std::string;
  const Words& words;

  std::string constant(double value) const {
    return fmt::format(fmt::runtime(words.constant), words.number(value));
  }
  static std::string add(const Value& a, const Value& b) { return fmt::format("({} + {})", a, b); }
  static std::string sub(const Value& a, const Value& b) { return fmt::format("({} - {})", a, b); }
  static std::string mul(const Value& a, const Value& b) { return fmt::format("({} * {})", a, b); }
  static std::string div(const Value& a, const Value& b) { return fmt::format("({} / {})", a, b); }
  static std::string neg(const Value& a) { return fmt::format("(-{})", a); }
  std::string maximum(const Value& a, const Value& b) const {
    return fmt::format("{}({}, {})", words.maximum, a, b);
  }
  std::string minimum(const Value& a, const Value& b) const {
    return fmt::format("{}({}, {})", words.minimum, a, b);
  }
  std::string pow(const Value& a, const Value& b) const {
    return fmt::format("{}({}, {})", words.pow, a, b);
  }
  std::string apply(ir::Fn fn, const Value& a) const {
    return fmt::format("{}({})", words.functions[static_cast<size_t>(fn)], a);
  }
};

std::string spelt(const Words& words, std::string_view Spelling::*column, ir::OpKind kind,
                  const ir::Attrs& attrs, std::span<const std::string> operands) {
  for (const Spelling& spelling : kFunctions) {
    const std::string_view function = spelling.*column;
    if (spelling.kind == kind && !function.empty())
      return fmt::format("{}({})", function, fmt::join(operands, ", "));
  }
  Text text{words};
  return ir::eval_map(kind, text, attrs, operands);
}

}  // namespace

std::string_view type_name(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::F64:
      return "double";
    case ir::DType::F32:
      return "float";
    case ir::DType::BF16:
      return "Bf16";
    case ir::DType::F16:
      return "F16";
    default:
      return "void";  // lowering refuses all others
  }
}

std::string number(double value) {
  if (std::isnan(value)) return "kNaN<T>";
  if (std::isinf(value)) return fmt::format("{}kInfinity<T>", value < 0 ? "-" : "");
  if (value == std::floor(value) && std::fabs(value) < 1e6)
    return fmt::format("T({}{:.0f})", std::signbit(value) ? "-" : "", std::fabs(value)) == "T(-0)"
               ? "T(-0.0)"
               : fmt::format("T({:.0f})", value);
  return fmt::format("T({:a})", value);
}

std::string_view triton_type_name(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::F64:
      return "float64";
    case ir::DType::F32:
      return "float32";
    case ir::DType::BF16:
      return "bfloat16";
    case ir::DType::F16:
      return "float16";
    default:
      return "void";  // lowering refuses all others
  }
}

std::string python_number(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  std::string text = fmt::format("{}", value);  // the shortest that reads back to the same bits
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return value < 0 || std::signbit(value) ? fmt::format("({})", text) : text;
}

std::string map_text(ir::OpKind kind, const ir::Attrs& attrs,
                     std::span<const std::string> operands) {
  return spelt(kCpp, &Spelling::cpp, kind, attrs, operands);
}

std::string triton_text(ir::DType compute, ir::OpKind kind, const ir::Attrs& attrs,
                        std::span<const std::string> operands) {
  return spelt(compute == ir::DType::F64 ? kTriton64 : kTriton, &Spelling::triton, kind, attrs,
               operands);
}

}  // namespace mirage::codegen
