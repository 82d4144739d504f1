#include "util/hash.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mirage {

std::string to_hex(Hash128 hash) { return fmt::format("{:016x}{:016x}", hash.high, hash.low); }

Hasher& Hasher::add(std::string_view text) {
  add(uint64_t{text.size()});
  bytes_.append(text);
  return *this;
}

Hash128 Hasher::finish() const { return hash_bytes(bytes_); }

Hash128 hash_bytes(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

}  // namespace mirage
