#include "search/costly.h"

#include <span>

#include "ir/ops/bodies.h"

namespace mirage::search {
namespace {

/// A value is whether something costly was done to make it.
struct CostlyDomain {
  using Value = bool;
  static bool constant(double) { return false; }
  static bool add(bool a, bool b) { return a || b; }
  static bool sub(bool a, bool b) { return a || b; }
  static bool mul(bool a, bool b) { return a || b; }
  static bool maximum(bool a, bool b) { return a || b; }
  static bool minimum(bool a, bool b) { return a || b; }
  static bool neg(bool a) { return a; }
  static bool div(bool, bool) { return true; }
  static bool pow(bool, bool) { return true; }
  static bool apply(ir::Fn, bool) { return true; }
};

}  // namespace

bool is_costly(ir::OpKind kind) {
  const ir::OpDef& row = ir::def(kind);
  if (row.form != ir::Form::Map) return false;
  CostlyDomain domain;
  ir::Attrs attrs;
  attrs.scalars = {0, 0};
  const bool args[2] = {false, false};
  return ir::eval_map(kind, domain, attrs,
                      std::span<const bool>(args, static_cast<size_t>(row.arity)));
}

}  // namespace mirage::search
