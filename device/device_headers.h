#pragma once

// The headers of this folder as bytes in the program, so that generated code can be compiled on a
// machine that has the program alone. Written by tools/embed.cc from the list in CMakeLists.txt.

#include <span>
#include <string_view>

namespace mirage {

struct DeviceHeader {
  std::string_view name;  // as generated code includes it: "mirage/core/types.cuh"
  std::string_view text;
};

/// In the order of the list.
std::span<const DeviceHeader> device_headers();

/// Hexadecimal hash over all names and texts; part of every key of compiled code.
std::string_view device_headers_hash();

}  // namespace mirage
