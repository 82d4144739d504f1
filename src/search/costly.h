#pragma once
// Which elementwise operators take much longer than an addition. Derived from their bodies, so that
// plans (extract) and schedules (cost) agree about every row of the op table.

#include "ir/op_table.h"

namespace mirage::search {

/// True for a Map operator whose body divides, takes a power or calls a scalar function.
bool is_costly(ir::OpKind kind);

}  // namespace mirage::search
