#pragma once
// What the lanes of a warp compute together, from the operands of all of them.

#include <array>

#include "host/interface.h"

namespace mirage::runtime::emulate {

inline constexpr int kLanes = 32;

/// Pointers to the operands of each lane, of the type that goes with the operation.
using Operands = std::array<void*, kLanes>;

void shuffle(const Operands& lanes);
void vote_any(const Operands& lanes);

/// Memory of the row that each lane gave the address of.
using MatrixRows = std::array<const uint16_t*, kLanes>;
void distribute_matrices(const Operands& lanes, const MatrixRows& rows, bool is_transposed);

/// Sums in f32, in the order of k.
void multiply(const Operands& lanes, bool is_bf16);

}  // namespace mirage::runtime::emulate
