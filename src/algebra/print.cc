// Normal forms as text: for certificates, traces and test failures.

#include <fmt/format.h>

#include <bit>

#include "algebra/prove.h"

namespace mirage::algebra {
namespace {

constexpr size_t kMaxPrintedFactors = 2000;

class Printer {
 public:
  Printer(const Arena& arena, const PrintNames& names) : arena_(arena), names_(names) {}

  std::string form(Nf a) const {
    if (!a.is_valid()) return "(no normal form)";
    // Shared parts are printed in full every time; deep forms would not end.
    if (budget_ == 0) return "...";
    const auto terms = arena_.monomials(a);
    if (terms.empty()) return "0";
    std::string text;
    for (const Monomial& m : terms) {
      const bool is_negative = m.coefficient.num < 0;
      text += text.empty() ? (is_negative ? "-" : "") : (is_negative ? " - " : " + ");
      text += monomial(m);
    }
    return text;
  }

 private:
  std::string variable(Var v) const {
    const std::string& name = arena_.index().info(v.node).name;
    if (v.is_temp()) return fmt::format("{}?{}", name, v.id & ~Var::kTempBits);
    if (v.is_bound())
      return fmt::format("{}'{}{}", name, (v.id >> 8) & 0x3fffff,
                         static_cast<char>('a' + (v.id & 0xff) % 26));
    return v.id == 0 ? name : fmt::format("{}#{}", name, v.id);
  }

  std::string monomial(const Monomial& m) const {
    std::string text;
    const Rational c = abs(m.coefficient);
    if (c != Rational(1) || m.factors.empty()) text = to_string(c);
    if (!m.binders.empty()) {
      text += text.empty() ? "sum{" : " sum{";
      for (size_t i = 0; i < m.binders.size(); ++i) text += (i ? " " : "") + variable(m.bound(i));
      text += "}";
    }
    for (const Factor& f : m.factors) {
      if (!text.empty()) text += " ";
      text += factor(f);
    }
    return text;
  }

  std::string factor(const Factor& f) const {
    if (budget_ == 0) return "...";
    --budget_;
    const Atom& atom = arena_.atom(f.atom);
    std::string text;
    switch (atom.kind) {
      case AtomKind::In:
        text = atom.symbol < names_.inputs.size() && !names_.inputs[atom.symbol].empty()
                   ? names_.inputs[atom.symbol]
               : atom.symbol >> 31 ? fmt::format("select{}", atom.symbol & 0x7fffffffu)
                                   : fmt::format("X{}", atom.symbol);
        text += "[";
        for (size_t axis = 0; axis < atom.ends.size(); ++axis) {
          if (axis) text += ",";
          const auto list = atom.list(axis);
          for (size_t i = 0; i < list.size(); ++i) text += (i ? " " : "") + variable(list[i]);
        }
        text += "]";
        break;
      case AtomKind::Size:
        text = "|" + arena_.index().info(atom.symbol).name + "|";
        break;
      case AtomKind::Unit:
        text = fmt::format("<{}>", std::bit_cast<double>(atom.bits));
        break;
      case AtomKind::Prime:
        text = fmt::format("{}", atom.bits);
        break;
      case AtomKind::Exp:
        return "exp(" + (f.power == Rational(1) ? "" : to_string(f.power) + " ") +
               form(atom.args[0]) + ")";
      case AtomKind::Poly:
        text = "(" + form(atom.args[0]) + ")";
        break;
      case AtomKind::Fn:
        text = std::string(arena_.function_name(atom)) + "(";
        for (size_t i = 0; i < atom.args.size(); ++i) text += (i ? ", " : "") + form(atom.args[i]);
        text += ")";
        break;
    }
    if (f.power != Rational(1)) text += "^" + to_string(f.power);
    return text;
  }

  const Arena& arena_;
  const PrintNames& names_;
  mutable size_t budget_ = kMaxPrintedFactors;
};

}  // namespace

std::string to_string(const Arena& arena, Nf form, const PrintNames& names) {
  return Printer(arena, names).form(form);
}

}  // namespace mirage::algebra
