#pragma once
// Pieces of Triton text about tiles: views with more axes, shapes, masks.

#include <cstdint>
#include <string>
#include <vector>

namespace mirage::codegen::triton {

/// `text`, a tile with the axes `has`, as one with the axes `want` of which the missing ones have
/// one lane: "x[:, None]". Both by axis of the same space; has is part of want.
std::string expanded(const std::string& text, const std::vector<bool>& has,
                     const std::vector<bool>& want);

/// "[16, 64]"
std::string shape_text(const std::vector<int64_t>& shape);

/// Conditions that hold together; empty for none.
std::string conjunction(const std::vector<std::string>& conditions);

}  // namespace mirage::codegen::triton
