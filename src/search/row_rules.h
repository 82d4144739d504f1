#pragma once
// Which structures back ends can run with the values of a row in registers (RowPlan,
// lower/program.h). Every structure that this says yes to must lower that way.

#include "search/cost.h"

namespace mirage::search {

/// No loop, elementwise operators and reductions over the last axis of everything, and rows that
/// fit the threads. Trips of the grid do not matter: rows are dealt out whatever they are.
bool rows_fit_registers(const Structure& structure, const InRegisters& limits);

}  // namespace mirage::search
