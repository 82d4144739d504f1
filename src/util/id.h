#pragma once
// Typed indices: a ValueId and an OpId are never mixed up.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace mirage {

template <class Tag>
struct Id {
  uint32_t index = UINT32_MAX;

  constexpr Id() = default;
  constexpr explicit Id(size_t i) : index(static_cast<uint32_t>(i)) {}
  constexpr bool is_valid() const { return index != UINT32_MAX; }
  constexpr auto operator<=>(const Id&) const = default;
};

}  // namespace mirage

template <class Tag>
struct std::hash<mirage::Id<Tag>> {
  size_t operator()(mirage::Id<Tag> id) const { return id.index; }
};
