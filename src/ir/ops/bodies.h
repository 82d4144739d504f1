#pragma once
// The meaning of every Map operator, written once over an abstract domain.
//
// A domain D has a value type D::Value and
//   constant(double) add sub mul div neg maximum minimum pow   on values, and
//   apply(Fn, value)                                           for the scalar functions below.
// Domains: float64 and finite fields (interp), normal forms (algebra), program text (codegen). An
// operator without a body does not compile, in any domain. A domain may also have sigmoid(value)
// and silu(value), where it knows more of them than of their parts.

#include <span>

#include "ir/op_table.h"
#include "util/check.h"

namespace mirage::ir {

/// Scalar functions that a domain implements itself.
enum class Fn : uint8_t { Exp, Log, Sqrt, Erf };

struct Attrs;

namespace ops {

template <OpKind kind>
struct Body;

#define MIRAGE_UNARY_BODY(id, expression)                        \
  template <>                                                    \
  struct Body<OpKind::id> {                                      \
    template <class D, class V>                                  \
    static V eval(D& d, const Attrs&, std::span<const V> args) { \
      const V& x = args[0];                                      \
      return expression;                                         \
    }                                                            \
  };
#define MIRAGE_BINARY_BODY(id, expression)                       \
  template <>                                                    \
  struct Body<OpKind::id> {                                      \
    template <class D, class V>                                  \
    static V eval(D& d, const Attrs&, std::span<const V> args) { \
      const V& a = args[0];                                      \
      const V& b = args[1];                                      \
      return expression;                                         \
    }                                                            \
  };

/// exp is finite at both ends here: 1 / (1 + exp(-x)) is 0 at -inf and 1 at +inf.
template <class D, class V>
V sigmoid(D& d, const V& x) {
  if constexpr (requires { d.sigmoid(x); })
    return d.sigmoid(x);
  else
    return d.div(d.constant(1), d.add(d.constant(1), d.apply(Fn::Exp, d.neg(x))));
}
template <class D, class V>
V silu(D& d, const V& x) {
  if constexpr (requires { d.silu(x); })
    return d.silu(x);
  else
    return d.mul(x, sigmoid(d, x));
}

MIRAGE_UNARY_BODY(Exp, d.apply(Fn::Exp, x))
MIRAGE_UNARY_BODY(Log, d.apply(Fn::Log, x))
MIRAGE_UNARY_BODY(Sqrt, d.apply(Fn::Sqrt, x))
MIRAGE_UNARY_BODY(Rsqrt, d.div(d.constant(1), d.apply(Fn::Sqrt, x)))
MIRAGE_UNARY_BODY(Square, d.mul(x, x))
MIRAGE_UNARY_BODY(Sigmoid, sigmoid(d, x))
MIRAGE_UNARY_BODY(Silu, silu(d, x))
MIRAGE_UNARY_BODY(Gelu, d.mul(d.mul(d.constant(0.5), x),
                              d.add(d.constant(1),
                                    d.apply(Fn::Erf, d.mul(d.constant(0.70710678118654752), x)))))
MIRAGE_UNARY_BODY(Relu, d.maximum(x, d.constant(0)))
MIRAGE_UNARY_BODY(Tanh,
                  d.sub(d.mul(d.constant(2), sigmoid(d, d.mul(d.constant(2), x))), d.constant(1)))
MIRAGE_UNARY_BODY(Neg, d.neg(x))
MIRAGE_BINARY_BODY(Add, d.add(a, b))
MIRAGE_BINARY_BODY(Sub, d.sub(a, b))
MIRAGE_BINARY_BODY(Mul, d.mul(a, b))
MIRAGE_BINARY_BODY(Div, d.div(a, b))
MIRAGE_BINARY_BODY(Pow, d.pow(a, b))
MIRAGE_BINARY_BODY(Maximum, d.maximum(a, b))
MIRAGE_BINARY_BODY(Minimum, d.minimum(a, b))

#undef MIRAGE_UNARY_BODY
#undef MIRAGE_BINARY_BODY

}  // namespace ops
}  // namespace mirage::ir

#include "ir/ops/eval_map.h"
