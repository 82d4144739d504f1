#include "codegen/spell.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/ops/bodies.h"

namespace mirage::codegen {
namespace {

using ir::OpKind;

struct Spelling {
  OpKind kind;
  std::string_view function;
};

// Operators that device/cpu has as a function of its own, more accurate at the edges than the
// operator's body. All others are spelt by their body.
constexpr Spelling kFunctions[] = {
    {OpKind::Exp, "exp"},     {OpKind::Log, "log"},         {OpKind::Sqrt, "sqrt"},
    {OpKind::Rsqrt, "rsqrt"}, {OpKind::Sigmoid, "sigmoid"}, {OpKind::Silu, "silu"},
    {OpKind::Gelu, "gelu"},   {OpKind::Relu, "relu"},       {OpKind::Tanh, "tanh"},
    {OpKind::Pow, "pow"},     {OpKind::Maximum, "maximum"}, {OpKind::Minimum, "minimum"},
};

/// The domain of program text.
struct Text {
  using Value = std::string;

  std::string constant(double value) { return fmt::format("V({})", number(value)); }
  std::string add(const Value& a, const Value& b) { return fmt::format("({} + {})", a, b); }
  std::string sub(const Value& a, const Value& b) { return fmt::format("({} - {})", a, b); }
  std::string mul(const Value& a, const Value& b) { return fmt::format("({} * {})", a, b); }
  std::string div(const Value& a, const Value& b) { return fmt::format("({} / {})", a, b); }
  std::string neg(const Value& a) { return fmt::format("(-{})", a); }
  std::string maximum(const Value& a, const Value& b) {
    return fmt::format("maximum({}, {})", a, b);
  }
  std::string minimum(const Value& a, const Value& b) {
    return fmt::format("minimum({}, {})", a, b);
  }
  std::string pow(const Value& a, const Value& b) { return fmt::format("pow({}, {})", a, b); }
  std::string apply(ir::Fn fn, const Value& a) {
    constexpr std::string_view names[] = {"exp", "log", "sqrt", "erf"};
    return fmt::format("{}({})", names[static_cast<size_t>(fn)], a);
  }
};

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

std::string map_text(ir::OpKind kind, const ir::Attrs& attrs,
                     std::span<const std::string> operands) {
  for (const Spelling& spelling : kFunctions)
    if (spelling.kind == kind)
      return operands.size() == 1
                 ? fmt::format("{}({})", spelling.function, operands[0])
                 : fmt::format("{}({}, {})", spelling.function, operands[0], operands[1]);
  Text text;
  return ir::eval_map(kind, text, attrs, operands);
}

}  // namespace mirage::codegen
