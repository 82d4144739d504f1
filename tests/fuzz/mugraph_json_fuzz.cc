// Any bytes as muGraph JSON.

#include "mugraph_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mirage::fuzz::check_mugraph(data, size);
  return 0;
}
