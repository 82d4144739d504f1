#pragma once
// 128-bit content hashes (xxHash) for structural identity and cache keys.

#include <compare>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace mirage {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;
};

/// 32 lower-case hexadecimal digits.
std::string to_hex(Hash128 hash);

/// Collects bytes and hashes them at the end. Every variable-length field is preceded by its
/// length, so that different sequences of fields never give the same bytes.
class Hasher {
 public:
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) Hasher& add(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes_.append(raw, sizeof(T));
    return *this;
  }
  Hasher& add(std::string_view text);
  Hasher& add(Hash128 hash) { return add(hash.high).add(hash.low); }
  template <class T>
  Hasher& add_all(std::span<const T> values) {
    add(uint64_t{values.size()});
    for (const T& value : values) add(value);
    return *this;
  }
  Hash128 finish() const;

 private:
  std::string bytes_;
};

Hash128 hash_bytes(std::string_view bytes);

}  // namespace mirage

template <>
struct std::hash<mirage::Hash128> {
  size_t operator()(const mirage::Hash128& value) const { return value.low; }
};
