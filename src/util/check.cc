#include "util/check.h"

#include <cstdio>
#include <cstdlib>

namespace mirage {

void check_failed(const char* expression, const char* message, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal error: %s (%s)\n", file, line, message, expression);
  std::abort();
}

}  // namespace mirage
