#pragma once
// Normal forms as a domain for the bodies of Map operators (ir/ops/bodies.h).

#include "algebra/normal_form.h"
#include "ir/ops/bodies.h"

namespace mirage::algebra {

class FormDomain {
 public:
  using Value = Nf;
  explicit FormDomain(Arena& arena) : arena_(arena) {}

  Nf constant(double value) { return arena_.literal(value); }
  Nf add(Nf a, Nf b) { return arena_.add(a, b); }
  Nf sub(Nf a, Nf b) { return arena_.sub(a, b); }
  Nf mul(Nf a, Nf b) { return arena_.mul(a, b); }
  Nf div(Nf a, Nf b) { return arena_.div(a, b); }
  Nf neg(Nf a) { return arena_.neg(a); }
  Nf maximum(Nf a, Nf b) { return arena_.maximum(a, b); }
  Nf minimum(Nf a, Nf b) { return arena_.minimum(a, b); }
  Nf pow(Nf a, Nf b) {
    if (!a.is_valid() || !b.is_valid()) return {};
    const auto terms = arena_.monomials(b);
    if (terms.empty()) return arena_.number(1);
    const bool is_number =
        terms.size() == 1 && terms[0].factors.empty() && terms[0].binders.empty();
    if (is_number) return arena_.power(a, terms[0].coefficient);
    const Nf args[] = {a, b};
    return arena_.function("pow", args);
  }
  Nf apply(ir::Fn fn, Nf a) {
    switch (fn) {
      case ir::Fn::Exp:
        return arena_.exp(a);
      case ir::Fn::Log:
        return arena_.log(a);
      case ir::Fn::Sqrt:
        return arena_.sqrt(a);
      case ir::Fn::Erf:
        return arena_.function("erf", {&a, 1});
    }
    return {};
  }

 private:
  Arena& arena_;
};

}  // namespace mirage::algebra
