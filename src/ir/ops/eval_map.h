#pragma once
// eval_map: one switch over the Map operators, generated from ops.def. Included through bodies.h.

#include "ir/graph.h"

namespace mirage::ir {
namespace ops {

template <>
struct Body<OpKind::Clamp> {
  template <class D, class V>
  static V eval(D& d, const Attrs& attrs, std::span<const V> args) {
    return d.minimum(d.maximum(args[0], d.constant(attrs.scalars[0])),
                     d.constant(attrs.scalars[1]));
  }
};

template <Form form, OpKind kind>
struct MapCase {
  template <class D, class V>
  static V eval(D&, const Attrs&, std::span<const V> args) {
    MIRAGE_CHECK(false, "eval_map of an operator that is not a map");
    return args[0];
  }
};

template <OpKind kind>
struct MapCase<Form::Map, kind> : Body<kind> {};

}  // namespace ops

/// The value of a Map operator in domain d on scalar operands.
template <class D, class V = typename D::Value>
V eval_map(OpKind kind, D& d, const Attrs& attrs, std::span<const V> args) {
  switch (kind) {
#define OP(id, name, arity, form, ...) \
  case OpKind::id:                     \
    return ops::MapCase<Form::form, OpKind::id>::eval(d, attrs, args);
#include "ir/ops.def"
#undef OP
  }
  MIRAGE_CHECK(false, "unknown operator");
  return args[0];
}

}  // namespace mirage::ir
