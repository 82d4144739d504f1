#pragma once
// Which machine this is, in words: times of another one are not comparable.

#include <cstdint>
#include <string>

namespace mirage::tune {

/// Processor model and number of cores this process may use, such as "Intel Xeon, 2 cores".
std::string machine_name();
/// Cores this process may use, at least 1.
int core_count();
/// Bytes of main memory.
int64_t memory_bytes();

}  // namespace mirage::tune
